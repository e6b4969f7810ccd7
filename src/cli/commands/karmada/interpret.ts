/** `flotilla karmada interpret`: what Karmada's resource interpreter makes of an object, from files. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import { readWholeNumber } from '../../../core/read-number.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { readText } from '../../input/read-text-file.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readObjects } from '../objects/apply.ts'

/** Flags of the command, named as those of karmadactl. */
export interface InterpretFlags {
  readonly operation?: string
  readonly desiredFile?: string
  readonly observedFile?: string
  readonly statusFile?: string
  readonly desiredReplica?: string
  readonly output?: string
}

export interface InterpretInput {
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly flags: InterpretFlags
}

const loadInterpreter = async () => await import('../../../dialects/karmada/interpret/interpret.ts')
type InterpretQuestion = Parameters<Awaited<ReturnType<typeof loadInterpreter>>['interpret']>[0]
type StatusItems = NonNullable<InterpretQuestion['items']>

/** Prints the answer of one operation for the object of a file. */
export async function karmadaInterpret({ terminal, stdin, flags }: InterpretInput): Promise<void> {
  const { interpret, OPERATIONS } = await loadInterpreter()
  const operation = OPERATIONS.find((name) => name === flags.operation)
  if (operation === undefined) {
    const what =
      flags.operation === undefined ? '--operation is required' : `unknown operation ${JSON.stringify(flags.operation)}`
    const todo = didYouMean(flags.operation ?? '', OPERATIONS) ?? `give one of ${OPERATIONS.join(', ')}`
    throw new CliError(EXIT.usage, { what, todo })
  }
  const { desiredFile, observedFile, statusFile } = flags
  if (desiredFile === undefined) throw usage('--desired-file is required: the object on the hub')
  if (operation === 'Retain' && observedFile === undefined) {
    throw usage('Retain needs --observed-file: the object on the cluster')
  }
  if (operation === 'AggregateStatus' && statusFile === undefined) {
    throw usage('AggregateStatus needs --status-file: a list of clusterName and status')
  }
  const question: InterpretQuestion = compact({
    operation,
    object: await readOne(desiredFile, stdin),
    observed: observedFile === undefined ? undefined : await readOne(observedFile, stdin),
    items: statusFile === undefined ? undefined : await readItems(statusFile),
    replicas: operation === 'ReviseReplica' ? replicasOf(flags.desiredReplica) : undefined,
    now: formatTime(systemClock.now()),
  })
  const answer = interpretOrFail(() => interpret(question), desiredFile)
  if ('notSupported' in answer) {
    const { apiVersion, kind } = question.object
    throw usage(`${operation} has no rule for ${kind} of ${apiVersion}`, desiredFile)
  }
  terminal.data(flags.output === 'json' ? `${JSON.stringify(answer, undefined, 2)}\n` : writeYaml(answer))
}

function interpretOrFail<T>(work: () => T, where: string): T {
  try {
    return work()
  } catch (caught) {
    throw usage((caught as Error).message, where)
  }
}

async function readOne(file: string, stdin: AsyncIterable<Uint8Array>): Promise<InterpretQuestion['object']> {
  const [first, second] = await readObjects([file], stdin)
  if (second) throw usage('the file has more than one object', file)
  return first!.object
}

async function readItems(file: string): Promise<StatusItems> {
  const values = readYaml(await readText(file), { file }).flatMap(({ value }) => value ?? [])
  return values.map((item: unknown, index) => {
    const clusterName = isObject(item) ? item['clusterName'] : undefined
    if (!isObject(item) || typeof clusterName !== 'string') throw usage(`item ${index + 1} has no clusterName`, file)
    return { clusterName, status: item['status'] }
  })
}

function replicasOf(text: string | undefined): number {
  const replicas = text === undefined ? undefined : readWholeNumber(text)
  if (replicas !== undefined) return replicas
  throw usage('ReviseReplica needs --desired-replica: a whole number')
}

function usage(what: string, where?: string): CliError {
  return new CliError(EXIT.usage, compact({ what, where }))
}
