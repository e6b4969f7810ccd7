/** `flotilla backup FILE`: copies the database and blobs of a hub into one file. The hub can continue to run. */
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { withBackupErrors } from '../../errors/backup-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `backup`. */
export interface BackupFlags {
  readonly data: string
  readonly output?: 'text' | 'json'
}

/** Takes a backup and lists the keys that it does not contain. */
export async function backup(
  { terminal }: { readonly terminal: Terminal },
  file: string,
  flags: BackupFlags,
): Promise<void> {
  const { takeBackup } = await import('../../../hub/backup/backup.ts')
  const manifest = await withBackupErrors(() => takeBackup(flags.data, file, { clock: systemClock, ids: systemIds }))
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(manifest)}\n`)
  const { revision, blobs, keys } = manifest
  terminal.data(`${file}: revision ${revision}, ${blobs.count} blobs\n`)
  terminal.step(
    'next',
    `the backup contains no keys; store the files of ${flags.data}/keys separately: ${keys.files.join(', ') || 'none'}`,
  )
}
