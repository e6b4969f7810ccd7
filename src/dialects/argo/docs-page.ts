/** The generated part of docs/dialects/argo.md. */
import { withFieldTables } from '../docs-tables.ts'
import { APPLICATION, APPLICATION_SET } from './fields.ts'

/** The page with its tables renewed; throws when it has no place for them. */
export function withArgoTables(page: string): string {
  // The sources of a list have the fields of the one.
  return withFieldTables(page, { 'Application.spec': APPLICATION, 'ApplicationSet.spec': APPLICATION_SET }, ['sources'])
}
