/** The generated part of docs/dialects/fleet.md. */
import { withFieldTables } from '../docs-tables.ts'
import { CLUSTER, FLEET_YAML, GIT_REPO } from './fields.ts'

/** Renews the tables of the page; throws when the page has no place for them. */
export function withFleetTables(page: string): string {
  // The options of customizations are the options of the file itself.
  return withFieldTables(page, { 'fleet.yaml': FLEET_YAML, 'GitRepo.spec': GIT_REPO, 'Cluster.spec': CLUSTER }, [
    'targets',
    'targetCustomizations',
    'partitions',
  ])
}
