// Tested by src/hub/backup/backup.contract.test.ts
/** The note in a data directory about the newest backup of it. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export const LAST_BACKUP_FILE = 'last-backup.json'

/**
 * Notes a complete backup. The directory is closed to other users; the file is not, because the user who backs up may
 * be another than the user of the hub.
 */
export async function noteBackup(data: string, at: string): Promise<void> {
  // A user who may only read the directory can take backups, too; they are not noted.
  await writeFile(join(data, LAST_BACKUP_FILE), `${JSON.stringify({ at })}\n`, { mode: 0o644 }).catch(() => {})
}
