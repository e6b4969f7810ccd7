/** `flotilla drift accept` and `flotilla drift revert`: an Override that accepts or reverts the drift of a cluster. */
import { clientOver } from '../../../client/create-client.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import type { Override } from '../../../kinds/native/override.ts'
import type { Connection } from '../../api/connect.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { flotillaResource } from '../../api/flotilla-resources.ts'
import type { Terminal } from '../../print/terminal.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { driftedOn } from './drift.ts'

export interface DecideInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'step'>
  readonly flags: {
    readonly bundle?: string
    readonly reason: string
    /** Lifetime of the Override. If omitted, until the Override is deleted. */
    readonly for?: string
    readonly dryRun?: boolean
  }
}

type Row = ClusterReport['spec']['bundles'][number]
type Drift = NonNullable<Row['drift']>[number]

const OVERRIDES = flotillaResource<Override>('Override', 'Namespaced')
/** Long enough for a rollout. Afterwards the drift settings of the Bundle apply again. */
const REVERT_MS = 3_600_000

/** Leaves the changed fields of one cluster to the field managers that changed them. */
export async function driftAccept(words: readonly string[], input: DecideInput): Promise<void> {
  const forMs = input.flags.for === undefined ? undefined : readDuration(input.flags.for, '--for')
  await decide(words, input, {
    verb: 'accept',
    endsInMs: forMs,
    annotationsOf: (drift, cluster) => ({
      'flotilla.dev/ignore': drift.fields.map((field) => pathOf(field, cluster)).join(' '),
    }),
    done: (name, cluster) =>
      `${name} accepts the changed fields on cluster "${cluster}"${input.flags.for === undefined ? '' : ` for ${input.flags.for}`}`,
  })
}

/** Corrects the drift of one cluster, independent of the drift settings of the Bundle. */
export async function driftRevert(words: readonly string[], input: DecideInput): Promise<void> {
  await decide(words, input, {
    verb: 'revert',
    endsInMs: REVERT_MS,
    annotationsOf: () => ({ 'flotilla.dev/drift': 'Correct' }),
    done: (name, cluster) => `${name} reverts the changed fields on cluster "${cluster}" and corrects drift for 1 hour`,
  })
}

interface Decision {
  readonly verb: 'accept' | 'revert'
  readonly endsInMs: number | undefined
  readonly annotationsOf: (drift: Drift, cluster: string) => Readonly<Record<string, string>>
  readonly done: (name: string, cluster: string) => string
}

async function decide(words: readonly string[], input: DecideInput, decision: Decision): Promise<void> {
  const { connection, terminal, flags } = input
  const [cluster = ''] = words
  const rows = await driftedOn(cluster, { connection, flags })
  const named = rows.filter((row) => (row.drift?.length ?? 0) > 0)
  if (named.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: `no drift found on cluster "${cluster}"${flags.bundle === undefined ? '' : ` for bundle "${flags.bundle}"`}`,
      todo: 'list drift with "flotilla drift list"',
    })
  }
  const { username } = await whoAmI(connection.rest)
  const client = clientOver(connection.rest)
  for (const row of named) {
    const override = overrideOf(row, { ...decision, cluster, owner: username, reason: flags.reason })
    const { name } = override.metadata
    for (const { object, fields } of row.drift!) terminal.data(`${row.bundle}  ${object}  ${fields.join(', ')}\n`)
    if (flags.dryRun) continue
    await client.apply(OVERRIDES, override, { fieldManager: 'flotilla-cli', force: true })
    terminal.step('ok', decision.done(`override/${name}`, cluster))
  }
  if (!flags.dryRun) terminal.step('next', `flotilla drift show ${cluster}`)
}

interface OverrideAuthor {
  readonly cluster: string
  readonly owner: string
  readonly reason: string
}

function overrideOf(row: Row, decision: Decision & OverrideAuthor): Override {
  const { verb, cluster, owner, reason, endsInMs } = decision
  const [namespace = '', bundle = ''] = row.bundle.split('/')
  const mark = digestOfJson([bundle, cluster, verb]).slice('sha256:'.length, 'sha256:'.length + 8)
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: OVERRIDES.kind,
    metadata: { name: `${verb}-${bundle.slice(0, 100)}-${cluster.slice(0, 100)}-${mark}`, namespace },
    spec: {
      bundle,
      clusters: [cluster],
      owner,
      reason,
      patches: row.drift!.map((drift) => ({
        ...objectOf(drift),
        patch: { metadata: { annotations: decision.annotationsOf(drift, cluster) } },
      })),
      ...(endsInMs === undefined ? {} : { expiresAt: formatTime(systemClock.now() + endsInMs) }),
    },
  }
}

/** `ConfigMap shop/greeting`, or without a namespace `ClusterRole reader`. */
function objectOf({ object }: Drift): { kind: string; name: string; namespace?: string } {
  const [kind = '', address = ''] = object.split(' ')
  const slash = address.indexOf('/')
  return slash < 0
    ? { kind, name: address }
    : { kind, name: address.slice(slash + 1), namespace: address.slice(0, slash) }
}

/** `.spec.containers[name=web].image (changed by x)` as a path of `flotilla.dev/ignore`. */
function pathOf(field: string, cluster: string): string {
  const path = field.replace(/ \(changed by .*\)$/, '').replaceAll(/\[name=([^\]]+)\]/g, '[?(@.name=="$1")]')
  if (!/[\s,]/.test(path) && path !== '.') return path
  throw new CliError(EXIT.failed, {
    what: `cannot accept field ${JSON.stringify(field)}`,
    why: 'the object was deleted, or the name of the field has spaces or commas',
    todo: `revert the drift with "flotilla drift revert ${cluster}", or change the Bundle`,
  })
}
