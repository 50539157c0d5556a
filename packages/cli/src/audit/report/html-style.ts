/** The style of the page: light and dark, from 320 px on, and for paper. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --text: #1d2129; --soft: #5a6270; --line: #dfe3ea; --box: #f6f7f9;
  --critical: #a5112a; --high: #b3401a; --medium: #8a5d00; --low: #1f5fa8; --note: #5a6270; --good: #1a7040;
  --bad-ground: #fdeef0; --doubtful-ground: #fdf5e2; --good-ground: #eaf6ef; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171c; --text: #e5e8ee; --soft: #9da6b5; --line: #303743;
  --box: #1c2129; --critical: #ff8294; --high: #ff9d76; --medium: #f0bd4e; --low: #82b8f7; --note: #9da6b5;
  --good: #6dd09a; --bad-ground: #33181d; --doubtful-ground: #2e2714; --good-ground: #14291e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
main { max-width: 64rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .75rem; }
p { margin: .4rem 0; }
code, pre { font: .86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .3rem 0 0; padding: .7rem .85rem; background: var(--ground); border: 1px solid var(--line);
  border-radius: 6px; white-space: pre-wrap; }
.soft { color: var(--soft); }
.verdict { margin: 1.25rem 0; padding: 1rem 1.2rem; border-left: 5px solid var(--tone); border-radius: 6px;
  background: var(--tone-ground); }
.verdict strong { display: block; font-size: 1.15rem; line-height: 1.35; margin-bottom: .35rem; color: var(--tone); }
.bad { --tone: var(--critical); --tone-ground: var(--bad-ground); }
.doubtful, .open { --tone: var(--medium); --tone-ground: var(--doubtful-ground); }
.good { --tone: var(--good); --tone-ground: var(--good-ground); }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .88rem; }
th, td { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child, th:first-child { width: 6.5rem; }
td:nth-child(2) { width: 16rem; }
td p:first-child { margin-top: 0; }
td p:last-child { margin-bottom: 0; }
.badge { font-weight: 600; font-size: .88rem; white-space: nowrap; color: var(--badge, var(--soft)); }
.critical { --badge: var(--critical); } .high { --badge: var(--high); } .medium { --badge: var(--medium); }
.low { --badge: var(--low); } .note { --badge: var(--note); } .safe { --badge: var(--good); }
a { color: inherit; text-underline-offset: .15em; }
details { border: 1px solid var(--line); border-radius: 8px; background: var(--box); margin: .6rem 0; }
summary { padding: .7rem .9rem; cursor: pointer; }
summary .badge { margin-right: .6rem; }
.inside { padding: 0 .9rem .9rem; }
dl { display: grid; grid-template-columns: 8.5rem 1fr; gap: .35rem .75rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; }
.finding { margin-top: .9rem; padding-top: .75rem; border-top: 1px solid var(--line); }
.finding h3 { font-size: 1rem; margin: 0 0 .35rem; font-weight: 600; }
.label { color: var(--soft); font-size: .88rem; margin-top: .6rem; }
ul { margin: .3rem 0; padding-left: 1.2rem; }
@media (max-width: 40rem) {
  main { padding: 1.25rem 1rem 3rem; }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  tr { display: block; padding: .55rem 0; border-bottom: 1px solid var(--line); }
  td, td:first-child, td:nth-child(2) { display: block; width: auto; border: 0; padding: 0; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
@media print {
  :root { color-scheme: light; }
  main { max-width: none; padding: 0; }
  details { break-inside: auto; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  .finding, tr { break-inside: avoid; }
}`;
