/** The end of every `bundle import`: objects that are checked, then printed for a repository or written to the hub. */
import { clientOver } from '../../../client/create-client.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { Source } from '../../../kinds/native/source.ts'
import { defaultObject, validateObject } from '../../../kinds/validation/validate-object.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What an import came to. */
export interface Import {
  /** The file or address it was made of. */
  readonly from: string
  readonly objects: readonly UnknownObject[]
  /** What is not quite the same here. */
  readonly notes?: readonly string[]
  /** What could not be taken over; it keeps everything from being written. */
  readonly problems?: readonly string[]
}

/** Where it goes: to the hub when there is a connection, else to stdout. */
export interface ImportGoal {
  readonly terminal: Terminal
  readonly connection: Connection | undefined
}

// What others name comes first.
const KINDS: readonly Kind[] = [Source, Placement, RolloutPlan, Bundle]

/** Prints the objects, with what is to be said about them as comments; or writes them. */
export async function deliverImport(made: Import, { terminal, connection }: ImportGoal): Promise<void> {
  const { from, notes = [], problems = [] } = made
  const objects = made.objects.toSorted((a, b) => placeOf(a) - placeOf(b))
  for (const object of objects) checkObject(from, object)
  checkNames(from, objects)
  if (!connection) {
    const remarks = [...problems.map((text) => `not taken over: ${text}`), ...notes]
    const comments = remarks.length === 0 ? [] : [`made of ${from}`, ...remarks.map((text) => `- ${text}`)]
    terminal.data(comments.map((line) => `# ${line.replaceAll(/\s+/g, ' ')}\n`).join(''))
    terminal.data(objects.map((object) => `---\n${writeYaml(object)}`).join(''))
    if (problems.length > 0) throw notWhole(made)
    if (notes.length > 0) terminal.say(`${countOf(notes.length, 'remark')} in the comments at the top`)
    terminal.say('keep this in git, or write it to the hub with --apply')
    return
  }
  for (const text of [...problems, ...notes]) terminal.step('warn', text)
  if (problems.length > 0) throw notWhole(made)
  const client = clientOver(connection.rest)
  for (const object of objects) {
    await client.apply(KINDS[placeOf(object)]!, object, { fieldManager: 'flotilla-cli' })
    const { name, namespace } = object.metadata
    terminal.step('ok', `${object.kind.toLowerCase()} ${name} in ${namespace}`)
  }
  for (const { kind, metadata } of objects) {
    if (kind === Bundle.kind) terminal.say(`see: flotilla get bundle ${metadata.name} -n ${metadata.namespace}`)
  }
}

function placeOf({ kind }: UnknownObject): number {
  return KINDS.findIndex((one) => one.kind === kind)
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? ' is' : 's are'}`
}

function notWhole({ from, problems = [] }: Import): CliError {
  const [first = '', ...more] = problems
  return new CliError(EXIT.failed, {
    what: `${countOf(problems.length, 'thing')} not taken over`,
    where: from,
    why: more.length === 0 ? first : `${first}; and ${more.length} more, each named above`,
    todo: 'change that there and import again; with --apply nothing is written until all of it can be',
  })
}

/** Two objects of one name would overwrite each other. */
function checkNames(from: string, objects: readonly UnknownObject[]): void {
  const known = new Set<string>()
  for (const { kind, metadata } of objects) {
    const id = `${kind} ${metadata.name}`
    if (known.has(id)) {
      throw new CliError(EXIT.usage, {
        what: `${from} cannot be imported at once`,
        why: `two different objects would be ${id}`,
        todo: 'import each by itself, into a namespace of its own (-n NAMESPACE), or rename one',
      })
    }
    known.add(id)
  }
}

/** What the hub would refuse is refused here, before anything is printed or written. */
function checkObject(from: string, object: UnknownObject): void {
  const kind = KINDS[placeOf(object)]!
  const checked = structuredClone(object)
  defaultObject(kind, checked)
  const [problem] = validateObject(kind, checked)
  if (!problem) return
  throw new CliError(EXIT.usage, {
    what: `${from} cannot be imported`,
    why: `${kind.kind} ${object.metadata.name}: ${problem.message}`,
    ...(problem.field === 'metadata.name' && { todo: 'say --name NAME, or rename it where it comes from' }),
  })
}
