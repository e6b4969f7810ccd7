/** `flotilla argo list`, `get` and `history`: Applications on the hub, with the columns of argocd. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'
import { APPLICATIONS } from './application.ts'
import type { Application, ApplicationSource, Deployment } from './application.ts'

/** What the commands receive. */
export interface ArgoInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: {
    readonly namespace?: string
    readonly output?: string
    readonly selector?: string
    readonly project?: readonly string[]
  }
}

const PAGE = 500
const SHORT = 7

/** Reads an Application by `NAME` or `NAMESPACE/NAME`. */
export async function findApplication(client: Client, word: string, namespace = 'argocd'): Promise<Application> {
  const [where, name] = word.includes('/') ? (word.split('/', 2) as [string, string]) : [namespace, word]
  try {
    return await client.get(APPLICATIONS, { namespace: where, name })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    throw new CliError(EXIT.notFound, {
      what: `there is no Application "${name}" in namespace "${where}"`,
      why: 'the name is wrong, or the hub does not serve the dialect argo',
      todo: 'run flotilla argo list',
    })
  }
}

/** Lists Applications. */
export async function argoList({ connection, terminal, flags }: ArgoInput): Promise<void> {
  const found: Application[] = []
  const client = clientOver(connection.rest)
  let token: string | undefined
  do {
    const page = await client.list(
      APPLICATIONS,
      compact({
        namespace: flags.namespace ?? 'argocd',
        limit: PAGE,
        labelSelector: flags.selector,
        continue: token,
      }),
    )
    found.push(...page.items)
    token = page.continue
  } while (token !== undefined)
  const wanted = flags.project ?? []
  const shown = found.filter(({ spec }) => wanted.length === 0 || wanted.includes(spec.project ?? ''))
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(shown, undefined, 2)}\n`)
  if (flags.output === 'name') return terminal.data(shown.map((app) => `${qualifiedName(app)}\n`).join(''))
  const head = [
    'NAME',
    'CLUSTER',
    'NAMESPACE',
    'PROJECT',
    'STATUS',
    'HEALTH',
    'SYNCPOLICY',
    'CONDITIONS',
    'REPO',
    'PATH',
    'TARGET',
  ]
  terminal.data(`${alignColumns([head, ...shown.map(listRow)])}\n`)
}

function qualifiedName({ metadata }: Application): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

function listRow(app: Application): string[] {
  const { spec, status } = app
  const [source] = allSources(spec)
  const { name, server, namespace = '' } = spec.destination ?? {}
  return [
    qualifiedName(app),
    name || server || '',
    namespace,
    spec.project ?? '',
    status?.sync?.status ?? 'Unknown',
    status?.health?.status ?? 'Unknown',
    syncPolicy(spec, ['Manual', 'Auto', 'Auto-Prune']),
    [...new Set((status?.conditions ?? []).map(({ type }) => type))].join(',') || '<none>',
    source?.repoURL ?? '',
    source?.path ?? source?.chart ?? '',
    source?.targetRevision ?? '',
  ]
}

function allSources({ source, sources }: Application['spec']): readonly ApplicationSource[] {
  return sources && sources.length > 0 ? sources : source ? [source] : []
}

function syncPolicy(
  { syncPolicy: policy }: Application['spec'],
  [manual, auto, prune]: readonly [string, string, string],
): string {
  if (!policy?.automated || policy.automated.enabled === false) return manual
  return policy.automated.prune ? prune : auto
}

/** Shows one Application. */
export async function argoGet(word: string, { connection, terminal, flags }: ArgoInput): Promise<void> {
  const app = await findApplication(clientOver(connection.rest), word, flags.namespace)
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(app, undefined, 2)}\n`)
  terminal.data(`${applicationText(app)}\n`)
}

/** An Application as `argocd app get` prints it. */
export function applicationText(app: Application): string {
  const { spec, status } = app
  const { name, server, namespace } = spec.destination ?? {}
  const sources = allSources(spec)
  const lines = [
    ['Name:', qualifiedName(app)],
    ['Project:', spec.project ?? ''],
    ['Server:', name || server || ''],
    ['Namespace:', namespace ?? ''],
  ].map(([label, value]) => `${label!.padEnd(20)}${value}`.trimEnd())
  lines.push(sources.length > 1 ? 'Sources:' : 'Source:')
  for (const source of sources) {
    lines.push(
      `- Repo:             ${source.repoURL ?? ''}`,
      `  Target:           ${source.targetRevision ?? ''}`.trimEnd(),
    )
    if (source.path) lines.push(`  Path:             ${source.path}`)
    if (source.chart) lines.push(`  Chart:            ${source.chart}`)
    if (source.ref) lines.push(`  Ref:              ${source.ref}`)
  }
  lines.push(
    `Sync Policy:        ${syncPolicy(spec, ['Manual', 'Automated', 'Automated (Prune)'])}`,
    `Sync Status:        ${syncText(app)}`,
    `Health Status:      ${status?.health?.status ?? 'Unknown'}${status?.health?.message ? ` (${status.health.message})` : ''}`,
  )
  const { operationState } = status ?? {}
  if (operationState) {
    lines.push(
      '',
      `Operation:          Sync`,
      `Phase:              ${operationState.phase}`,
      `Start:              ${operationState.startedAt}`,
    )
    if (operationState.finishedAt) lines.push(`Finished:           ${operationState.finishedAt}`)
    if (operationState.message) lines.push(`Message:            ${operationState.message}`)
  }
  if (status?.conditions?.length) {
    lines.push(
      '',
      alignColumns([['CONDITION', 'MESSAGE'], ...status.conditions.map(({ type, message }) => [type, message])]),
    )
  }
  const rows = (status?.resources ?? []).map((one) => [
    one.group ?? '',
    one.kind,
    one.namespace ?? '',
    one.name,
    one.status ?? '',
    one.health?.status ?? '',
    one.health?.message ?? '',
  ])
  if (rows.length > 0)
    lines.push('', alignColumns([['GROUP', 'KIND', 'NAMESPACE', 'NAME', 'STATUS', 'HEALTH', 'MESSAGE'], ...rows]))
  return lines.join('\n')
}

function syncText({ spec, status }: Application): string {
  const { status: word = 'Unknown', revision, revisions = [] } = status?.sync ?? {}
  const at = revision ?? revisions.map((one) => one.slice(0, SHORT)).join(', ')
  const [source] = allSources(spec)
  const from = source?.targetRevision ? ` ${word === 'OutOfSync' ? 'from' : 'to'} ${source.targetRevision}` : ''
  return at === '' ? word : `${word}${from} (${revision === undefined ? at : revision.slice(0, SHORT)})`
}

/** Lists the deployments of an Application. */
export async function argoHistory(word: string, { connection, terminal, flags }: ArgoInput): Promise<void> {
  const app = await findApplication(clientOver(connection.rest), word, flags.namespace)
  const history = app.status?.history ?? []
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(history, undefined, 2)}\n`)
  const rows = history.map((entry) => [String(entry.id), entry.deployedAt, historyRevision(entry)])
  terminal.data(`${alignColumns([['ID', 'DATE', 'REVISION'], ...rows])}\n`)
}

function historyRevision({ revision, revisions = [], source, sources = [] }: Deployment): string {
  const shorts = (revision === undefined ? revisions : [revision]).map((one) => one.slice(0, SHORT)).join(', ')
  const target = source?.targetRevision ?? sources[0]?.targetRevision ?? ''
  return target === '' ? shorts : `${target} (${shorts})`
}
