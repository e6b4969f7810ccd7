// Tested by src/cli/commands/policy/dryrun.contract.test.ts.
/** `flotilla policy dryrun`: a policy against objects of files, as the dry run of Open Cluster Management prints it. */
import { writeFile } from 'node:fs/promises'
import type { PolicyStatus } from '../../../plan/policy/configuration-policy.ts'
import { goValue } from '../../../plan/policy/go-value.ts'
import type { GoObject } from '../../../plan/policy/go-value.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { ENTROPY } from '../../repository/bundle-recipe.ts'
import { Failed, orFailed, readInputs, readNamed } from './policy-files.ts'
import type { InputFlags, PolicyInput } from './policy-files.ts'

/** Flags of the command. */
export interface DryRunFlags extends InputFlags {
  readonly messagesPath?: string
  readonly printDiffs?: string | boolean
  readonly desiredStatus?: string
  /** False with `--no-colors`. */
  readonly colors?: boolean
  readonly fullDiffs?: boolean
  readonly statusPath?: string
}

/** Prints differences and messages. Exits with 0 if the policy is compliant, with 2 if not, with 1 if it fails. */
export async function policyDryrun(files: readonly string[], input: PolicyInput<DryRunFlags>): Promise<ExitCode> {
  const { terminal } = input
  const [{ dryRun, DryRunError }, output] = await Promise.all([
    import('../../../dialects/ocm/policy/dry-run.ts'),
    import('../../../dialects/ocm/policy/dry-run-output.ts'),
  ])
  try {
    const texts = await readInputs(files, input)
    const result = dryRun({ ...texts, fullDiffs: input.flags.fullDiffs === true, entropy: ENTROPY })
    const paints = output.painter(input.flags.colors !== false)
    return await report(result, input, {
      comparison: (wanted) => output.printComparison(wanted, result.status, paints),
      diffs: () => output.printDiffs(result.status, paints),
    })
  } catch (caught) {
    if (!(caught instanceof Failed || caught instanceof DryRunError || caught instanceof output.EmptyListError)) {
      throw caught
    }
    const words = caught instanceof output.EmptyListError ? 'unable to compare desired status: ' : ''
    terminal.say(`Error: ${words}${caught.message}`)
    return EXIT.failed
  }
}

interface Found {
  readonly status: PolicyStatus
  readonly messages: readonly string[]
  readonly ignored: number
}

/** What is printed of a dry run. */
interface Printed {
  readonly comparison: (wanted: GoObject) => string
  readonly diffs: () => string
}

async function report(
  { status, messages, ignored }: Found,
  { terminal, flags }: PolicyInput<DryRunFlags>,
  print: Printed,
): Promise<ExitCode> {
  terminal.data('Ignoring additional ConfigurationPolicy in input policy\n'.repeat(ignored))
  if (flags.desiredStatus !== undefined && flags.desiredStatus !== '') {
    const wanted = await readDesired(flags.desiredStatus)
    terminal.data(`${print.comparison(wanted)}\n`)
  }
  if (flags.statusPath !== undefined) {
    await write(flags.statusPath, writeYaml(status), 'unable to save the resulting policy state')
  }
  if (String(flags.printDiffs ?? true) !== 'false') terminal.data(print.diffs())
  const lines = messages.map((message) => `${message}\n`).join('')
  if (flags.messagesPath === undefined) terminal.data(`# Compliance messages:\n${lines}`)
  else await write(flags.messagesPath, lines, 'unable to save or print the compliance messages')
  if (status.compliant === 'Compliant') return EXIT.ok
  terminal.say('Error: policy is NonCompliant')
  return EXIT.usage
}

async function readDesired(file: string): Promise<GoObject> {
  const text = await readNamed(file, 'unable to compare desired status')
  try {
    return goValue(readFirstYaml(text, { resolver: '1.2', integer: (whole) => whole }).value ?? {}) as GoObject
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new Failed(`unable to compare desired status: ${caught.goMessage}`)
  }
}

async function write(file: string, text: string, words: string): Promise<void> {
  await orFailed(words, file, () => writeFile(file, text))
}
