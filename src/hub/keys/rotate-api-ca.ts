/** A new CA for the API of an embedded hub: ends every client certificate that the old CA issued. */
import { openDataDirectory } from '../home/data-directory.ts'
import { replaceFileAtomically } from '../home/atomic-files.ts'
import { createApiCaFiles } from './hub-keys.ts'
import type { KeyPorts } from './hub-keys.ts'
import { KEY_FOLDER } from './sealing-keys.ts'

/**
 * Replaces the CA. The hub must not run, because all of its parts trust the CA from their start; the lock of the
 * directory tells.
 */
export async function rotateApiCa(data: string, ports: KeyPorts): Promise<void> {
  const directory = await openDataDirectory(data, ports.clock)
  try {
    for (const [name, text] of Object.entries(createApiCaFiles(ports)))
      await replaceFileAtomically(directory.file(KEY_FOLDER, name), text, ports.ids)
  } finally {
    directory.release()
  }
}
