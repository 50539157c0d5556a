"""Writes vectors.json: a third implementation of docs/token-format.md, in Python, that shares no code with the two.

    pip install cryptography && python make-vectors.py > vectors.json

Vectors are never made anew for a format that is in use: they say what old tokens look like.
"""

import base64
import hashlib
import hmac
import json
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sha256(data):
    return hashlib.sha256(data).digest()


def test_bytes(label, length):
    return hashlib.shake_256(f"parley TEST {label}".encode()).digest(length)


def canonical(value):
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def token(name, root, audience, salt, nonce, plaintext):
    info = b"parley/v1\0" + audience.encode()
    k = HKDF(algorithm=hashes.SHA512(), length=64, salt=None, info=info).derive(root)
    kid = sha256(b"kid\0" + k)[:4]
    okm = hmac.new(k, b"parley1 key+commit\0" + salt, hashlib.sha512).digest()
    key, commit = okm[:32], okm[32:]
    sealed = AESGCM(key).encrypt(nonce, plaintext, b"parley1." + kid)
    return {
        "name": name,
        "root": "parley_key_" + b64(root) if len(root) == 32 else b64(root),
        "audience": audience,
        "salt": salt.hex(),
        "nonce": nonce.hex(),
        "plaintext": plaintext.hex(),
        "K": k.hex(),
        "kid": kid.hex(),
        "key": key.hex(),
        "commit": commit.hex(),
        "token": "parley1." + b64(kid + salt + nonce + commit + sealed),
    }


def padme(length):
    e = length.bit_length() - 1
    mask = (1 << (e - e.bit_length())) - 1
    return (length + mask) & ~mask


def claims(name, kind, round_, issued, expires, deadline, principal, request, body, pad):
    flow = test_bytes(f"flow {name}", 16)
    text = body.encode()
    data = bytes([1, {"flow": 1, "plain": 2}[kind]]) + flow
    data += struct.pack(">IQQQ", round_, issued, expires, deadline)
    data += principal + request + struct.pack(">I", len(text)) + text
    if pad:
        data += bytes(padme(len(data)) - len(data))
    return {
        "name": name,
        "pad": pad,
        "claims": {
            "kind": kind,
            "flow": flow.hex(),
            "round": round_,
            "issued": issued,
            "expires": expires,
            "deadline": deadline,
            "principal": principal.hex(),
            "request": request.hex(),
            "body": body,
        },
        "bytes": data.hex(),
    }


def request(method, target, arguments):
    text = canonical([method, target, arguments])
    return {
        "method": method,
        "target": target,
        "arguments": arguments,
        "canonical": text,
        "digest": sha256(b"parley/v1 request\0" + text.encode()).hex(),
    }


def principal(value):
    if value is None:
        digest = bytes(32)
    elif isinstance(value, str):
        digest = sha256(b"parley/v1 principal-string\0" + canonical(value).encode())
    else:
        parts = [value.get(part) for part in ("issuer", "client", "subject")]
        digest = sha256(b"parley/v1 principal-parts\0" + canonical(parts).encode())
    return {"principal": value, "digest": digest.hex()}


requests = [
    request("tools/call", "deploy", {}),
    request("tools/call", "deploy", {"env": "prod", "count": 3, "dry": False, "note": None}),
    request("prompts/get", "greet", {"\uff5e": 1, "\U0001f600": 2, "10": [], "9": {}, "__proto__": "\u00e9\n\"\\"}),
]
principals = [
    principal(None),
    principal("alice"),
    principal({"issuer": "https://id.example", "client": "app", "subject": "alice"}),
    principal({"client": "app"}),
]

time = 1_785_542_400_000
flow_claims = claims(
    "flow", "flow", 2, time, time + 600_000, time + 86_400_000,
    bytes.fromhex(principals[2]["digest"]), bytes.fromhex(requests[1]["digest"]),
    '{"v":"1"}\n["region","accept",{"region":"eu"}]\n["place","Zürich \U0001f600"]', False,
)  # fmt: skip
plain_claims = claims(
    "plain", "plain", 1, time, time + 600_000, time + 86_400_000,
    bytes(32), bytes.fromhex(requests[0]["digest"]), '{"s":"a text of the handler\'s own"}', False,
)  # fmt: skip
padded_claims = claims(
    "padded", "flow", 4_294_967_295, 0, 9_007_199_254_740_991, 9_007_199_254_740_991,
    bytes(32), bytes.fromhex(requests[0]["digest"]), "{}\n" + "x" * 300, True,
)  # fmt: skip

root_1, root_2, root_3 = test_bytes("KEY 1", 32), test_bytes("KEY 2", 32), test_bytes("KEY 3", 64)
vectors = {
    "warning": "TEST KEYS. They are public: never configure one.",
    "format": "parley1",
    "tokens": [
        token("empty", root_1, "releases", test_bytes("salt 1", 16), test_bytes("nonce 1", 12), b""),
        token("text", root_1, "releases", test_bytes("salt 1", 16), test_bytes("nonce 2", 12), b"hello, world"),
        token("other audience", root_1, "Zürich \U0001f600", test_bytes("salt 1", 16), test_bytes("nonce 2", 12), b"hello, world"),
        token("other key", root_2, "releases", bytes(16), bytes(12), bytes(range(256))),
        token("long key", root_3, "releases", b"\xff" * 16, b"\xff" * 12, b"\xfb\xff\xfe"),
        token("claims", root_2, "releases", test_bytes("salt 3", 16), test_bytes("nonce 3", 12), bytes.fromhex(flow_claims["bytes"])),
    ],
    "claims": [flow_claims, plain_claims, padded_claims],
    "requests": requests,
    "principals": principals,
}
print(json.dumps(vectors, indent=2, ensure_ascii=False))
