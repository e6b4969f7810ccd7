/** `flotilla backup FILE`: a hub's database and blobs in one file, taken while it runs. */
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { withBackupErrors } from '../../errors/backup-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `backup`. */
export interface BackupFlags {
  readonly data: string
  readonly output?: 'text' | 'json'
}

/** Takes a backup and says which keys it does not have. */
export async function backup(
  { terminal }: { readonly terminal: Terminal },
  file: string,
  flags: BackupFlags,
): Promise<void> {
  const { takeBackup } = await import('../../../hub/backup/backup.ts')
  const manifest = await withBackupErrors([file, flags.data], () =>
    takeBackup(flags.data, file, { clock: systemClock, ids: systemIds }),
  )
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(manifest)}\n`)
  const { revision, blobs, keys } = manifest
  terminal.data(`${file}: revision ${revision}, ${blobs.count} blobs\n`)
  terminal.step(
    'next',
    `no key is in it; keep these of ${flags.data}/keys apart from it: ${keys.files.join(', ') || 'none'}`,
  )
}
