/** The generated part of docs/dialects/ocm-works.md. */
import { withFieldTables } from '../../docs-tables.ts'
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from './fields.ts'

/** Renews the table of the page; throws when the page has no place for it. */
export function withWorkTables(page: string): string {
  return withFieldTables(page, {
    'ManifestWork.spec': MANIFEST_WORK,
    'ManifestWorkReplicaSet.spec': MANIFEST_WORK_REPLICA_SET,
  })
}
