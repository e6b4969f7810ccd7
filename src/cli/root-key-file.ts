// Tested by src/cli/commands/evidence/evidence.test.ts
import { isDigest } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { isObject } from '../core/json.ts'
import { CliError, EXIT } from './errors/cli-error.ts'
import { readText } from './input/read-text-file.ts'

/** The key id of a root key: a PEM public key, the output of `trust export`, or the digest itself. */
export async function readRootKey(file: string, keyIdOf: (pem: string) => Digest): Promise<Digest> {
  const text = (await readText(file)).trim()
  if (isDigest(text)) return text
  const todo = 'write the public root key with "flotilla trust export --data DIR > trust.json"'
  if (text.includes('PRIVATE KEY')) {
    throw new CliError(EXIT.usage, {
      where: file,
      what: 'this is a private key; verification needs the public key',
      todo,
    })
  }
  try {
    if (!text.startsWith('{')) return keyIdOf(text)
    const value: unknown = JSON.parse(text)
    const root = isObject(value) && isObject(value['root']) ? value['root']['publicKey'] : undefined
    if (typeof root === 'string') return keyIdOf(root)
  } catch {
    // Said below.
  }
  const what =
    'not a root key: must be a public key in PEM, the output of "flotilla trust export", or a digest sha256:…'
  throw new CliError(EXIT.usage, { where: file, what, todo })
}
