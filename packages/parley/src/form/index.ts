/**
 * Forms, as both ends of the wire know them: the protocol's restricted schema, and whether content fits it.
 */
export { checkContent, type ContentCheck, type FieldValue } from './check-content.js';
export { nothingFits } from './nothing-fits.js';
export type {
  BooleanField,
  ChoicesField,
  FormField,
  NumberField,
  RestrictedSchema,
  TextField,
} from './restricted-schema.js';
