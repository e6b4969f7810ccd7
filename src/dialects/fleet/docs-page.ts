/** The generated part of docs/dialects/fleet.md. */
import { withFieldTables } from '../docs-tables.ts'
import { CLUSTER, FLEET_YAML, GIT_REPO, HELM_OP } from './fields.ts'

/** Renews the tables of the page; throws when the page has no place for them. */
export function withFleetTables(page: string): string {
  // The options of customizations are the options of the file itself.
  const helmOp = Object.fromEntries(Object.entries(HELM_OP).filter(([name, field]) => field !== FLEET_YAML[name]))
  const tables = {
    'fleet.yaml': FLEET_YAML,
    'GitRepo.spec': GIT_REPO,
    'HelmOp.spec': helmOp,
    'Cluster.spec': CLUSTER,
  }
  return withFieldTables(page, tables, ['targets', 'targetCustomizations', 'partitions'])
}
