/** `flotilla policy certificates`: a CertificatePolicy against Secrets of files. */
import { systemClock } from '../../../core/time/system-clock.ts'
import { parseTime } from '../../../core/time/time.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import { Failed, readInputs } from './policy-files.ts'
import type { InputFlags, PolicyInput } from './policy-files.ts'

/** Flags of the command. */
export interface CertificateFlags extends InputFlags {
  readonly now?: string
}

/** Prints the certificates that violate the policy. Exits with 0 if there is none, with 2 if there are some. */
export async function policyCertificates(
  files: readonly string[],
  input: PolicyInput<CertificateFlags>,
): Promise<ExitCode> {
  const { terminal, flags } = input
  const now = flags.now === undefined ? systemClock.now() : parseTime(flags.now)
  if (now === undefined) {
    const what = `invalid --now ${JSON.stringify(flags.now)}`
    throw new CliError(EXIT.failed, { what, todo: 'use a time such as 2026-06-01T12:00:00Z' })
  }
  const [{ dryRunCertificates }, { DryRunError }] = await Promise.all([
    import('../../../dialects/ocm/policy/certificates.ts'),
    import('../../../dialects/ocm/policy/dry-run.ts'),
  ])
  try {
    const { compliant, message, findings, unreadable } = dryRunCertificates({
      ...(await readInputs(files, input)),
      now,
    })
    const rows = findings.map((found) => [
      found.namespace,
      found.name,
      found.secret,
      found.expires,
      [found.isExpiring && 'expires', found.isTooLong && 'too long', found.hasOtherNames && 'names']
        .filter((problem) => problem !== false)
        .join(', '),
    ])
    if (rows.length > 0) {
      terminal.data(`${alignColumns([['NAMESPACE', 'CERTIFICATE', 'SECRET', 'EXPIRES', 'PROBLEM'], ...rows])}\n`)
    }
    terminal.data(`${message.trimEnd()}\n`)
    for (const secret of unreadable)
      terminal.step('warn', `Secret ${secret}: the certificate cannot be read and was not evaluated`)
    return compliant ? EXIT.ok : EXIT.usage
  } catch (caught) {
    if (!(caught instanceof Failed || caught instanceof DryRunError)) throw caught
    terminal.say(`Error: ${caught.message}`)
    return EXIT.failed
  }
}
