/** The generated part of docs/dialects/argo.md. */
import { withFieldTables } from '../docs-tables.ts'
import { APPLICATION, APPLICATION_SET } from './fields.ts'

/** Renews the tables of the page; throws when the page has no place for them. */
export function withArgoTables(page: string): string {
  // The sources of a list have the same fields as the single source.
  return withFieldTables(page, { 'Application.spec': APPLICATION, 'ApplicationSet.spec': APPLICATION_SET }, ['sources'])
}
