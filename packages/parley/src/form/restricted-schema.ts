/** A text field (schema.ts `StringSchema` and the enum schemas of a single choice). */
export interface TextField {
  readonly type: 'string';
  readonly title?: string;
  readonly description?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  readonly enum?: readonly string[];
  /** Labels of `enum`, as older servers write them (schema.ts `LegacyTitledEnumSchema`); new ones write `oneOf`. */
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly { readonly const: string; readonly title: string }[];
  readonly default?: string;
}

/** A number field (schema.ts `NumberSchema`). */
export interface NumberField {
  readonly type: 'number' | 'integer';
  readonly title?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

/** A yes-or-no field (schema.ts `BooleanSchema`). */
export interface BooleanField {
  readonly type: 'boolean';
  readonly title?: string;
  readonly description?: string;
  readonly default?: boolean;
}

/** A choice of several (schema.ts `UntitledMultiSelectEnumSchema`, `TitledMultiSelectEnumSchema`). */
export interface ChoicesField {
  readonly type: 'array';
  readonly title?: string;
  readonly description?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items:
    | { readonly type: 'string'; readonly enum: readonly string[] }
    | { readonly anyOf: readonly { readonly const: string; readonly title: string }[] };
  readonly default?: readonly string[];
}

/** One field of a form. */
export type FormField = TextField | NumberField | BooleanField | ChoicesField;

/** The protocol's restricted JSON Schema of a form: flat, primitives only (client/elicitation, "Requested Schema"). */
export interface RestrictedSchema {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: FormField };
  readonly required?: readonly string[];
}
