// Tested by src/cli/commands/evidence/evidence.test.ts
/** `flotilla evidence verify`: verifies an evidence file with the root key, without a hub. */
import { createReadStream } from 'node:fs'
import { isDigest } from '../../../core/crypto/digest.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { toError } from '../../../core/errors.ts'
import { isObject } from '../../../core/json.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readLines } from './read-lines.ts'

export interface VerifyInput {
  readonly terminal: Pick<Terminal, 'data' | 'say'>
  readonly flags: { readonly rootKey: string; readonly strict?: boolean; readonly output?: 'text' | 'json' }
}

export async function evidenceVerify(file: string, { terminal, flags }: VerifyInput): Promise<void> {
  const { createEvidenceVerifier, describeEvidence, EVIDENCE_PASSES, evidenceVerdict, keyIdOf } =
    await import('../../../hub/verify-evidence.ts')
  const verifier = createEvidenceVerifier(await readRootKey(flags.rootKey, keyIdOf))
  for (const pass of EVIDENCE_PASSES) {
    let line = 0
    try {
      for await (const text of readLines(createReadStream(file))) verifier.read(pass, text, ++line)
    } catch (caught) {
      const why = toError(caught).message
      throw new CliError(EXIT.failed, { where: file, what: `cannot read line ${line + 1}`, why }, { cause: caught })
    }
  }
  const result = verifier.finish()
  const { isAccepted, message } = evidenceVerdict(result, { isStrict: flags.strict ?? false })
  if (flags.output === 'json')
    terminal.data(`${JSON.stringify({ verified: isAccepted, message, ...result }, undefined, 2)}\n`)
  else terminal.data(`${describeEvidence(result).join('\n')}\n`)
  if (!isAccepted) throw new CliError(EXIT.failed, { where: file, what: message })
  terminal.say(message)
}

/** The key id of a root key: a PEM public key, the output of `trust export`, or the digest itself. */
async function readRootKey(file: string, keyIdOf: (pem: string) => Digest): Promise<Digest> {
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
