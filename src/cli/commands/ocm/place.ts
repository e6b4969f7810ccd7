/** `flotilla ocm place`: decisions of Open Cluster Management's Placements, from files and without a hub. */
import { parseTime } from '../../../core/time/time.ts'
import { readBatchCases } from '../../input/batch-cases.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readObjects } from '../objects/apply.ts'

/** Flags of the command. */
export interface PlaceFlags {
  readonly filename?: readonly string[]
  readonly batch?: string
  readonly now?: string
  readonly output?: string
}

export interface PlaceInput {
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly flags: PlaceFlags
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Prints the decisions of each Placement in the files, or answers the cases of a batch. */
export async function ocmPlace(input: PlaceInput): Promise<void> {
  const { flags } = input
  if ((flags.batch === undefined) === (flags.filename === undefined)) {
    throw new CliError(EXIT.usage, { what: 'exactly one of --filename and --batch is required' })
  }
  if (flags.batch !== undefined) return placeBatch(flags.batch, input)
  return placeFiles(flags.filename!, input)
}

async function placeFiles(files: readonly string[], { terminal, stdin, flags, now }: PlaceInput): Promise<void> {
  const [{ createCelCompiler }, { createOcmObjects, RefusedObject }, { placeOnce }] = await Promise.all([
    import('../../../dialects/ocm/placement/answer-case.ts'),
    import('../../../dialects/ocm/placement/object-store.ts'),
    import('../../../dialects/ocm/placement/place.ts'),
  ])
  const time = flags.now === undefined ? now : parseTime(flags.now)
  if (time === undefined) {
    throw new CliError(EXIT.usage, {
      what: `invalid --now ${JSON.stringify(flags.now)}`,
      todo: 'use a time such as 2026-06-01T12:00:00Z',
    })
  }
  const objects = createOcmObjects()
  for (const { object, where } of await readObjects(files, stdin)) {
    try {
      objects.apply(object)
    } catch (error) {
      if (!(error instanceof RefusedObject)) throw error
      throw new CliError(EXIT.usage, { where, what: error.message }, { cause: error })
    }
  }
  const placements = objects.placements()
  if (placements.length === 0) {
    throw new CliError(EXIT.usage, {
      where: files.join(', '),
      what: 'no Placement of cluster.open-cluster-management.io found',
      todo: 'export the objects with "kubectl get placements,managedclusters,managedclustersets,managedclustersetbindings -A -o yaml"',
    })
  }
  const compileCel = createCelCompiler()
  const decided = placements.map((placement) => ({
    placement: `${placement.metadata.namespace ?? ''}/${placement.metadata.name}`,
    ...placeOnce(objects, placement, { now: time, compileCel }),
  }))
  if (flags.output === 'json') {
    terminal.data(`${JSON.stringify({ items: decided }, undefined, 2)}\n`)
    return
  }
  const rows = decided.map(({ placement, conditions, numberOfSelectedClusters, selected, skipped, syncError }) => {
    const satisfied = conditions?.find(({ type }) => type === 'PlacementSatisfied')
    const misconfigured = conditions?.find(({ type, status }) => type === 'PlacementMisconfigured' && status === 'True')
    return [
      placement,
      satisfied?.status ?? 'Unknown',
      misconfigured?.message ?? syncError ?? skipped ?? satisfied?.reason ?? '',
      String(numberOfSelectedClusters),
      selected.join(','),
    ]
  })
  terminal.data(`${alignColumns([['PLACEMENT', 'SATISFIED', 'REASON', 'SELECTED', 'CLUSTERS'], ...rows])}\n`)
}

async function placeBatch(file: string, { terminal, stdin, flags }: PlaceInput): Promise<void> {
  if (flags.output !== 'jsonl') {
    throw new CliError(EXIT.usage, { what: '--batch requires -o jsonl', todo: 'add -o jsonl' })
  }
  const { answerCase, createCelCompiler } = await import('../../../dialects/ocm/placement/answer-case.ts')
  const compileCel = createCelCompiler()
  for await (const { id, question } of readBatchCases(file, stdin)) {
    terminal.data(`${JSON.stringify({ id, answer: answerCase(question, compileCel) })}\n`)
  }
}
