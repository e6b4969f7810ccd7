// Tested by src/cli/commands/evidence/evidence.test.ts
/** `flotilla evidence verify`: verifies an evidence file with the root key, without a hub. */
import { createReadStream } from 'node:fs'
import { toError } from '../../../core/errors.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readRootKey } from '../../root-key-file.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readLines } from '../../input/read-lines.ts'

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
