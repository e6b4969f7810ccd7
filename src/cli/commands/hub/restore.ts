/** `flotilla restore FILE`: restores the data directory of a hub, or proves with --drill that a backup is complete. */
import { systemIds } from '../../../core/system-ids.ts'
import { withBackupErrors } from '../../errors/backup-error.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { localTime } from '../../print/print-time.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `restore`. */
export interface RestoreFlags {
  readonly data?: string
  readonly keys?: string
  readonly drill?: boolean
}

export async function restore(
  { terminal }: { readonly terminal: Terminal },
  from: string,
  flags: RestoreFlags,
): Promise<void> {
  const { drillBackup, restoreBackup } = await import('../../../hub/backup/backup.ts')
  const { data, keys, drill } = flags
  if ((data === undefined) === (drill !== true)) {
    throw new CliError(EXIT.usage, {
      what: data === undefined ? 'missing --data or --drill' : '--data and --drill exclude each other',
      todo: 'use "flotilla restore FILE --data DIR", or "flotilla restore FILE --drill" to prove that the backup is complete',
    })
  }
  const ports = { ids: systemIds }
  const read = await withBackupErrors(() =>
    data === undefined ? drillBackup(from, keys, ports) : restoreBackup(from, data, keys, ports),
  )
  const { manifest, objects, sealed, opened, blobs, auditRecords } = read
  terminal.data(
    `${data ?? 'drill'}: revision ${manifest.revision} of ${localTime(manifest.createdAt)}, ${objects} objects (${opened} of ${sealed} sealed objects opened), ${blobs} blobs, ${auditRecords} audit records, all verified\n`,
  )
  if (keys === undefined && data !== undefined) {
    terminal.step('warn', `before you start the hub, copy its keys to ${data}/keys: ${manifest.keys.files.join(', ')}`)
  }
}
