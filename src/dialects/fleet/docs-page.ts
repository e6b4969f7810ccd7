/** The generated part of docs/dialects/fleet.md. */
import { withFieldTables } from '../docs-tables.ts'
import { FLEET_YAML, GIT_REPO } from './fields.ts'

/** The page with its tables renewed; throws when it has no place for them. */
export function withFleetTables(page: string): string {
  // The options of customizations are those of the file itself.
  return withFieldTables(page, { 'fleet.yaml': FLEET_YAML, 'GitRepo.spec': GIT_REPO }, [
    'targets',
    'targetCustomizations',
    'partitions',
  ])
}
