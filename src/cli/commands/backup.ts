/** `flotilla backup`: a copy of a hub's database and blobs, taken while it runs. */
import { systemClock } from '../../core/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import type { Terminal } from '../terminal.ts'

/** Flags of `backup`. */
export interface BackupFlags {
  readonly data: string
  readonly to: string
  readonly output?: 'text' | 'json'
}

/** Takes a backup and says which keys it does not have. */
export async function backup({ terminal }: { readonly terminal: Terminal }, flags: BackupFlags): Promise<void> {
  const { takeBackup } = await import('../../hub/backup.ts')
  const manifest = await takeBackup(flags.data, flags.to, { clock: systemClock, ids: systemIds })
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(manifest)}\n`)
  const { revision, blobs, keys } = manifest
  terminal.data(`${flags.to}: revision ${revision}, ${blobs.count} blobs\n`)
  terminal.step(
    'next',
    `no key is in it; keep these of ${flags.data}/keys apart from it: ${keys.files.join(', ') || 'none'}`,
  )
}
