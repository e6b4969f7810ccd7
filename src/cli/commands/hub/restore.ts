/** `flotilla restore FILE`: a hub's data directory from a backup, or the proof that one could be made. */
import { systemIds } from '../../../core/system-ids.ts'
import { withBackupErrors } from '../../errors/backup-error.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `restore`. */
export interface RestoreFlags {
  readonly data?: string
  readonly keys?: string
  readonly drill?: boolean
}

/** Restores, or with --drill proves, a backup. */
export async function restore(
  { terminal }: { readonly terminal: Terminal },
  from: string,
  flags: RestoreFlags,
): Promise<void> {
  const { drillBackup, restoreBackup } = await import('../../../hub/backup/backup.ts')
  const { data, keys, drill } = flags
  if ((data === undefined) === (drill !== true)) {
    throw new CliError(EXIT.usage, {
      what: 'restore where?',
      todo: 'write `flotilla restore FILE --data DIR`, or `flotilla restore FILE --drill` to prove it only',
    })
  }
  const ports = { ids: systemIds }
  const read = await withBackupErrors([from, data, keys], () =>
    data === undefined ? drillBackup(from, keys, ports) : restoreBackup(from, data, keys, ports),
  )
  const { manifest, objects, sealed, opened, blobs, auditRecords } = read
  terminal.data(
    `${data ?? 'drill'}: revision ${manifest.revision} of ${manifest.createdAt}, ${objects} objects (${opened} of ${sealed} sealed ones opened), ${blobs} blobs, ${auditRecords} audit records, all read\n`,
  )
  if (keys === undefined && data !== undefined) {
    terminal.step('warn', `before the hub starts, put its keys into ${data}/keys: ${manifest.keys.files.join(', ')}`)
  }
}
