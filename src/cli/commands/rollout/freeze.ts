// Tested by src/cli/commands/cluster/hold.test.ts.
/** `flotilla freeze create`, `list` and `lift`. */
import { compact } from '../../../core/compact.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { plural } from '../../../core/text/name-some.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import type { ClusterWindow } from '../../../kinds/native/cluster-window.ts'
import type { Window } from '../../../kinds/native/window.ts'
import { compileWindow, isForCluster, windowObjectProblem } from '../../../plan/windows/window-rules.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import type { Connection } from '../../api/connect.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { CLUSTER_WINDOWS, CLUSTERS, listAll, WINDOWS } from '../../api/flotilla-resources.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import { timeWithDistance } from '../../print/print-time.ts'
import { requirementsOf } from '../../input/selector-flag.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Terminal } from '../../print/terminal.ts'
import { exceptionsText, listWindows, windowStateText } from '../../print/print-windows.ts'

export interface FreezeInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: {
    readonly namespace?: string
    readonly from?: string
    readonly until?: string
    readonly selector?: string
    readonly cluster?: readonly string[]
    readonly bundle?: readonly string[]
    readonly except?: readonly string[]
    readonly reason?: string
    readonly yes?: boolean
    readonly output?: string
  }
  readonly confirm: (question: string) => Promise<boolean>
}

type Freeze = Window | ClusterWindow

/** Creates a freeze and prints the number of its clusters. */
export async function freezeCreate(name: string, input: FreezeInput): Promise<void> {
  const { terminal, flags } = input
  const now = systemClock.now()
  const object = freezeOf(name, input, now)
  const problem = windowObjectProblem(object)
  if (problem !== undefined) throw new CliError(EXIT.usage, { what: `freeze "${name}" is invalid`, why: problem })
  const client = clientOver(input.connection.rest)
  const options = { fieldManager: 'flotilla-cli' }
  if (flags.namespace === undefined) await client.create(CLUSTER_WINDOWS, object, options)
  else await client.create(WINDOWS, object, options)
  const held = await clustersOf(object, input)
  const [times] = object.spec.times
  if (held.length === 0) {
    terminal.step('warn', `freeze "${name}" matches no cluster now${scopeText(object)}; check the selector and names`)
  }
  terminal.step(
    'ok',
    `freeze "${name}": no change starts on ${plural(held.length, 'cluster')}${scopeText(object)}${flags.from === undefined ? '' : ` from ${timeWithDistance(times?.from ?? '', now)}`} until ${timeWithDistance(times?.until ?? '', now)}; started changes finish`,
  )
  const where = flags.namespace === undefined ? '' : ` -n ${flags.namespace}`
  terminal.step('next', `flotilla freeze lift ${name}${where}`)
}

/** Lists freezes. Active freezes are listed first. */
export async function freezeList(input: FreezeInput): Promise<void> {
  const { terminal, flags } = input
  const now = systemClock.now()
  const { windows, refused } = await listWindows(clientOver(input.connection.rest), flags.namespace)
  const found = windows.filter(({ spec }) => spec.mode === 'Freeze')
  if (refused.length > 0 && windows.length === 0) {
    throw new CliError(EXIT.forbidden, {
      what: `not allowed to list ${refused.join(' and ')}`,
      todo: 'list the freezes of a namespace with -n NAMESPACE, or ask for the right to list them',
    })
  }
  if (refused.length > 0) terminal.step('warn', `not shown: ${refused.join(' and ')}, which you may not list`)
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(found, undefined, 2)}\n`)
  if (found.length === 0) return terminal.say('No freezes found.')
  const rows = found
    .map((object) => ({ object, state: windowStateText(object, now) }))
    .sort((a, b) => a.state.order - b.state.order)
    .map(({ object, state }) => [
      compileWindow(object).name,
      state.text,
      object.spec.clusters?.join(',') ?? selectorShown(object),
      object.spec.bundles?.join(',') ?? 'all',
      exceptionsText(object) || '-',
      object.spec.reason,
    ])
  terminal.data(`${alignColumns([['NAME', 'STATE', 'CLUSTERS', 'BUNDLES', 'EXCEPT', 'REASON'], ...rows])}\n`)
}

/** Deletes a freeze after a confirmation. */
export async function freezeLift(name: string, input: FreezeInput): Promise<void> {
  const { terminal, flags } = input
  const client = clientOver(input.connection.rest)
  const { namespace } = flags
  const object = await freezeNamed(name, input)
  const { text } = windowStateText(object, systemClock.now())
  const held = await clustersOf(object, input)
  const question = `lift freeze "${name}" (${text}) and start waiting changes on up to ${plural(held.length, 'cluster')}`
  await requireConfirmation(question, input)
  const { uid } = object.metadata
  const options = uid === undefined ? {} : { uid }
  if (namespace === undefined) await client.delete(CLUSTER_WINDOWS, { name }, options)
  else await client.delete(WINDOWS, { name, namespace }, options)
  terminal.step('ok', `freeze "${name}" lifted; other windows and freezes still apply`)
}

function freezeOf(name: string, { flags }: FreezeInput, now: number): Freeze {
  const { namespace, cluster, bundle, selector, reason } = flags
  if (reason === undefined || reason.trim() === '') {
    throw new CliError(EXIT.usage, {
      what: 'missing --reason',
      todo: 'give a reason with --reason TEXT; it is shown to users who wait for the freeze',
    })
  }
  if (flags.until === undefined) {
    throw new CliError(EXIT.usage, {
      what: 'missing --until',
      todo: 'give a time such as 2026-12-01T06:00:00+01:00, or a duration such as 36h',
    })
  }
  const from = flags.from === undefined ? now : momentOf(flags.from, '--from', now)
  const until = momentOf(flags.until, '--until', from)
  const exceptions = exceptionsOf(flags.except ?? [])
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: namespace === undefined ? 'ClusterWindow' : 'Window',
    metadata: compact({ name, namespace }),
    spec: {
      mode: 'Freeze',
      times: [{ from: formatTime(from), until: formatTime(until) }],
      ...compact({
        clusterSelector: selector === undefined ? undefined : { matchExpressions: requirementsOf(selector) },
        clusters: cluster ? [...cluster] : undefined,
        bundles: bundle ? [...bundle] : undefined,
        exceptions: exceptions.length > 0 ? exceptions : undefined,
      }),
      reason,
    },
  }
}

function momentOf(text: string, flag: string, from: number): number {
  const at = parseTime(text)
  if (at !== undefined) return at
  if (!/^\d+(\.\d+)?[a-z]/.test(text)) {
    throw new CliError(EXIT.usage, {
      what: `invalid ${flag} ${JSON.stringify(text)}: must be a time with zone such as 2026-12-01T06:00:00+01:00, or a duration such as 36h`,
    })
  }
  return from + readDuration(text, flag)
}

const SUBJECTS = { user: 'User', group: 'Group', role: 'Role' } as const

/** `role=x`, `group=x` and `user=x` may use the exception; `bundle=x` and `release=x` always pass. */
function exceptionsOf(texts: readonly string[]): NonNullable<Freeze['spec']['exceptions']> {
  return texts.map((text) => {
    const at = text.indexOf('=')
    const [what, name] = [text.slice(0, at), text.slice(at + 1)]
    const exception = `${what}-${name}`.replaceAll(/[^A-Za-z0-9-]+/g, '-').slice(0, 63)
    if (at > 0 && name !== '') {
      if (Object.hasOwn(SUBJECTS, what)) {
        return { name: exception, subjects: [{ kind: SUBJECTS[what as keyof typeof SUBJECTS], name }] }
      }
      if (what === 'bundle') return { name: exception, bundles: [name] }
      if (what === 'release') return { name: exception, releases: [name] }
    }
    throw new CliError(EXIT.usage, {
      what: `invalid --except ${JSON.stringify(text)}: must be role=NAME, group=NAME, user=NAME, bundle=GLOB or release=GLOB`,
    })
  })
}

async function clustersOf(object: Freeze, { connection }: FreezeInput): Promise<string[]> {
  const window = compileWindow(object)
  const clusters = await listAll(clientOver(connection.rest), CLUSTERS)
  return clusters
    .filter(({ metadata }) => isForCluster(window, { name: metadata.name, labels: metadata.labels ?? {} }))
    .map(({ metadata }) => metadata.name)
}

async function freezeNamed(name: string, { connection, flags }: FreezeInput): Promise<Freeze> {
  const client = clientOver(connection.rest)
  const { namespace } = flags
  try {
    return namespace === undefined
      ? await client.get(CLUSTER_WINDOWS, { name })
      : await client.get(WINDOWS, { name, namespace })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const { windows: all } = await listWindows(client, namespace)
    throw new CliError(EXIT.notFound, {
      what: `freeze ${JSON.stringify(name)} not found${namespace === undefined ? '' : ` in namespace "${namespace}"`}`,
      todo:
        didYouMean(
          name,
          all.map(({ metadata }) => metadata.name),
        ) ?? 'list freezes with "flotilla freeze list"',
    })
  }
}

function scopeText({ metadata, spec }: Freeze): string {
  const bundles = spec.bundles?.join(', ')
  const space = metadata.namespace === undefined ? '' : ` of namespace ${metadata.namespace}`
  return bundles === undefined ? (space === '' ? '' : `, for bundles${space},`) : `, for bundles ${bundles}${space},`
}

function selectorShown({ spec }: Freeze): string {
  const { matchLabels = {}, matchExpressions = [] } = spec.clusterSelector ?? {}
  const terms = [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) =>
      operator === 'In' && values.length === 1
        ? `${key}=${values[0]}`
        : `${key} ${operator} ${values.join('|')}`.trim(),
    ),
  ]
  return terms.length === 0 ? 'all' : terms.join(',')
}
