/** The generated part of docs/dialects/karmada.md. */
import { withFieldTables } from '../docs-tables.ts'
import { OVERRIDE_POLICY, PROPAGATION_POLICY } from './fields.ts'

/** Renews the tables of the page; throws when the page has no place for them. */
export function withKarmadaTables(page: string): string {
  return withFieldTables(page, { 'PropagationPolicy.spec': PROPAGATION_POLICY, 'OverridePolicy.spec': OVERRIDE_POLICY })
}
