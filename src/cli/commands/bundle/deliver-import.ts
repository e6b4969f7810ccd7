// Tested by src/cli/commands/bundle/import-bundle.test.ts.
/** The last step of `bundle import`: validates the objects, then prints them or writes them to the hub. */
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

/** The result of an import. */
export interface Import {
  /** The imported file or address. */
  readonly from: string
  readonly objects: readonly UnknownObject[]
  /** Differences in behaviour that the user should know. */
  readonly notes?: readonly string[]
  /** Parts that cannot be imported. With problems, nothing is written. */
  readonly problems?: readonly string[]
}

/** The target of an import: the hub if there is a connection, else stdout. */
export interface ImportGoal {
  readonly terminal: Terminal
  readonly connection: Connection | undefined
}

// Referenced kinds come first.
const KINDS: readonly Kind[] = [Source, Placement, RolloutPlan, Bundle]

/** Prints the objects with notes as comments, or writes them. */
export async function deliverImport(made: Import, { terminal, connection }: ImportGoal): Promise<void> {
  const { from, notes = [], problems = [] } = made
  const objects = made.objects.toSorted((a, b) => placeOf(a) - placeOf(b))
  for (const object of objects) checkObject(from, object)
  checkNames(from, objects)
  if (!connection) {
    const remarks = [...problems.map((text) => `not imported: ${text}`), ...notes]
    const comments = remarks.length === 0 ? [] : [`imported from ${from}`, ...remarks.map((text) => `- ${text}`)]
    terminal.data(comments.map((line) => `# ${line.replaceAll(/\s+/g, ' ')}\n`).join(''))
    terminal.data(objects.map((object) => `---\n${writeYaml(object)}`).join(''))
    if (problems.length > 0) throw incompleteImport(made)
    if (notes.length > 0) terminal.say(`see the ${countText(notes.length, 'note')} in the comments at the top`)
    terminal.say('commit the output to git, or write it to the hub with --apply')
    return
  }
  for (const text of [...problems, ...notes]) terminal.step('warn', text)
  if (problems.length > 0) throw incompleteImport(made)
  const client = clientOver(connection.rest)
  for (const object of objects) {
    await client.apply(KINDS[placeOf(object)]!, object, { fieldManager: 'flotilla-cli' })
    const { name, namespace } = object.metadata
    terminal.step('ok', `${object.kind.toLowerCase()} "${name}" written to namespace "${namespace}"`)
  }
  for (const { kind, metadata } of objects) {
    if (kind === Bundle.kind) {
      terminal.step('next', `flotilla get bundle ${metadata.name} -n ${metadata.namespace}`)
    }
  }
}

function placeOf({ kind }: UnknownObject): number {
  return KINDS.findIndex((one) => one.kind === kind)
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function incompleteImport({ from, problems = [] }: Import): CliError {
  const [first = '', ...more] = problems
  return new CliError(EXIT.failed, {
    where: from,
    what: `${countText(problems.length, 'part')} cannot be imported`,
    why: more.length === 0 ? first : `${first}; and ${more.length} more, listed above`,
    todo: 'change the imported file and repeat the command; --apply writes nothing while a part cannot be imported',
  })
}

/** Two objects with the same name would overwrite each other. */
function checkNames(from: string, objects: readonly UnknownObject[]): void {
  const known = new Set<string>()
  for (const { kind, metadata } of objects) {
    const id = `${kind} ${metadata.name}`
    if (known.has(id)) {
      throw new CliError(EXIT.usage, {
        where: from,
        what: `two different objects would become ${id}`,
        todo: 'import them separately into different namespaces (-n NAMESPACE), or rename one of them',
      })
    }
    known.add(id)
  }
}

/** Reports an object that the hub would refuse, before anything is printed or written. */
function checkObject(from: string, object: UnknownObject): void {
  const kind = KINDS[placeOf(object)]!
  const checked = structuredClone(object)
  defaultObject(kind, checked)
  const [problem] = validateObject(kind, checked)
  if (!problem) return
  throw new CliError(EXIT.usage, {
    where: from,
    what: `${kind.kind} ${JSON.stringify(object.metadata.name)} would be invalid`,
    why: problem.message,
    ...(problem.field === 'metadata.name' && { todo: 'give a name with --name NAME, or rename the imported object' }),
  })
}
