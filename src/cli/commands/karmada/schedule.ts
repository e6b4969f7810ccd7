/** `flotilla karmada schedule`: the decision of Karmada's scheduler for a binding, from files and without a hub. */
import { readBatchCases } from '../../input/batch-cases.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readObjects } from '../objects/apply.ts'

/** Flags of the command. */
export interface ScheduleFlags {
  readonly filename?: readonly string[]
  readonly batch?: string
  readonly featureGates?: readonly string[]
  readonly keepEmptyTargets?: boolean
  readonly output?: string
}

export interface ScheduleInput {
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly flags: ScheduleFlags
}

const BINDINGS: ReadonlySet<unknown> = new Set(['ResourceBinding', 'ClusterResourceBinding'])
const CLUSTER_GROUP = 'cluster.karmada.io/'
const WORK_GROUP = 'work.karmada.io/'

/** Prints the decision for the binding in the files, or answers the cases of a batch. */
export async function karmadaSchedule(input: ScheduleInput): Promise<void> {
  const { flags, terminal, stdin } = input
  if ((flags.batch === undefined) === (flags.filename === undefined)) {
    throw new CliError(EXIT.usage, { what: 'exactly one of --filename and --batch is required' })
  }
  if (flags.batch === undefined) return scheduleFiles(flags.filename!, input)
  if (flags.output !== 'jsonl') {
    throw new CliError(EXIT.usage, { what: '--batch requires -o jsonl', todo: 'add -o jsonl' })
  }
  const { answerScheduleCase } = await import('../../../dialects/karmada/schedule/answer-case.ts')
  for await (const { id, question } of readBatchCases(flags.batch, stdin)) {
    terminal.data(`${JSON.stringify({ id, answer: answerScheduleCase(question) })}\n`)
  }
}

async function scheduleFiles(files: readonly string[], { terminal, stdin, flags }: ScheduleInput): Promise<void> {
  const { answerScheduleCase } = await import('../../../dialects/karmada/schedule/answer-case.ts')
  const objects = (await readObjects(files, stdin)).map(({ object }) => object)
  const isOf = ({ apiVersion }: { readonly apiVersion?: unknown }, group: string): boolean =>
    typeof apiVersion === 'string' && apiVersion.startsWith(group)
  const clusters = objects.filter((object) => isOf(object, CLUSTER_GROUP) && object['kind'] === 'Cluster')
  const bindings = objects.filter((object) => isOf(object, WORK_GROUP) && BINDINGS.has(object['kind']))
  const [binding, ...others] = bindings
  if (!binding) {
    throw new CliError(EXIT.usage, {
      where: files.join(', '),
      what: 'no ResourceBinding or ClusterResourceBinding of work.karmada.io found',
      todo: 'export the objects with "kubectl get resourcebindings,clusters -A -o yaml"',
    })
  }
  const answer = answerScheduleCase({
    clusters,
    binding,
    bindings: others,
    gates: gatesOf(flags.featureGates ?? []),
    options: { enableEmptyWorkloadPropagation: flags.keepEmptyTargets ?? false },
  })
  if ('error' in answer) throw new CliError(EXIT.usage, { where: files.join(', '), what: answer.error })
  if (flags.output === 'json') {
    terminal.data(`${JSON.stringify(answer, undefined, 2)}\n`)
    return
  }
  const rows = answer.clusters.map(({ name, replicas = 0 }) => [name, String(replicas)])
  if (answer.message !== undefined) terminal.say(`${answer.reason ?? answer.action}: ${answer.message}`)
  else terminal.say('The binding is unchanged: nothing that the scheduler looks at has changed.')
  terminal.data(`${alignColumns([['CLUSTER', 'REPLICAS'], ...rows])}\n`)
}

function gatesOf(gates: readonly string[]): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    gates.map((gate) => {
      const match = /^(\w+)=(true|false)$/.exec(gate)
      if (!match) {
        throw new CliError(EXIT.usage, {
          what: `invalid --feature-gates ${JSON.stringify(gate)}`,
          todo: 'use a gate such as WorkloadAffinity=true',
        })
      }
      return [match[1]!, match[2] === 'true']
    }),
  )
}
