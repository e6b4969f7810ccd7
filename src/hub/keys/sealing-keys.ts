/**
 * The keys that seal Secrets at rest: one file of the key folder, made at the first start and never inside the
 * database.
 */
import { access } from 'node:fs/promises'
import { base64 } from '../../core/bytes.ts'
import { Stalled } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { DataDirectory } from '../home/data-directory.ts'
import { readFileIfExists, replaceFileAtomically } from '../home/atomic-files.ts'

/** A sealing key as it is in its file and between threads. */
export interface SealingKeyData {
  readonly id: string
  /** 32 bytes in base64. */
  readonly key: string
}

/** The file's name in the key folder; one `id key` per line, the first one seals. */
export const SEALING_KEYS_FILE = 'sealing.keys'
/** The folder of all keys in a data directory. */
export const KEY_FOLDER = 'keys'
/** The database of an embedded home in a data directory. */
export const DATABASE_FILE = 'hub.db'

/** Refuses a directory with data and without keys, before new keys are made that open and prove nothing. */
export async function requireSealingKeys(directory: DataDirectory): Promise<void> {
  const isThere = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    )
  const folder = directory.file(KEY_FOLDER)
  if (!(await isThere(directory.file(DATABASE_FILE))) || (await isThere(folder))) return
  throw new Stalled('KeysMissing', `the directory has a database and no ${folder}`, {
    where: directory.path,
    todo: 'copy the keys of the hub to that folder before the hub starts; the manifest.json of a backup lists the files',
  })
}

/** The sealing keys of a data directory, made when there are none. */
export async function loadSealingKeys(
  directory: DataDirectory,
  ids: Ids,
): Promise<[SealingKeyData, ...SealingKeyData[]]> {
  const file = directory.file(KEY_FOLDER, SEALING_KEYS_FILE)
  const text = await readFileIfExists(file)
  if (text !== undefined) return parseSealingKeys(text, file)
  const made: SealingKeyData = { id: ids.suffix(8), key: base64(ids.bytes(32)) }
  await replaceFileAtomically(file, `${made.id} ${made.key}\n`, ids)
  return [made]
}

/** Reads the text of such a file. */
export function parseSealingKeys(text: string, file: string): [SealingKeyData, ...SealingKeyData[]] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const [first, ...others] = lines.map((line) => {
    const match = /^([a-z0-9-]+) ([A-Za-z0-9+/]{43}=)$/.exec(line.trim())
    if (!match) throw new Stalled('KeysMissing', `${file} has a line that is not \`ID BASE64\` of 32 bytes`)
    return { id: match[1]!, key: match[2]! }
  })
  if (!first)
    throw new Stalled('KeysMissing', 'the file is empty', {
      where: file,
      todo: 'copy the sealing keys of the hub to it',
    })
  return [first, ...others]
}
