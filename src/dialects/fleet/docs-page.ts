/** The generated part of docs/dialects/fleet.md. */
import { withFieldTables } from '../docs-tables.ts'
import type { Fields } from '../field-table.ts'
import { BUNDLE_SPEC } from './bundle-fields.ts'
import { CLUSTER, FLEET_YAML, GIT_REPO, HELM_OP } from './fields.ts'

/** Renews the tables of the page; throws when the page has no place for them. */
export function withFleetTables(page: string): string {
  // The options of customizations are the options of the file itself.
  const differing = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([name, field]) => field !== FLEET_YAML[name]))
  const tables = {
    'fleet.yaml': FLEET_YAML,
    'GitRepo.spec': GIT_REPO,
    'HelmOp.spec': differing(HELM_OP),
    'Bundle.spec': differing(BUNDLE_SPEC),
    'Cluster.spec': CLUSTER,
  }
  return withFieldTables(page, tables, ['targets', 'targetCustomizations', 'partitions'])
}
