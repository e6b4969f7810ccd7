/** `flotilla check`: checks this machine, the hub, a cluster or an agent. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { compact } from '../../../core/compact.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import type { Client } from '../../../client/client.ts'
import { clientOver } from '../../../client/create-client.ts'
import { fromUtf8 } from '../../../core/bytes.ts'
import { isApiError, Stalled, toError } from '../../../core/errors.ts'
import { readBody } from '../../../core/http.ts'
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { parseHttpDate, parseTime } from '../../../core/time/time.ts'
import { VERSION } from '../../../core/version.ts'
import { Lease } from '../../../kinds/builtin/coordination.ts'
import { ClusterRole } from '../../../kinds/builtin/rbac.ts'
import {
  JOURNAL_ANNOTATION,
  JOURNAL_LABEL,
  JOURNAL_NAMESPACE,
  parseJournalHead,
} from '../../../kinds/fields/journal-head.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import { MIGRATED_LABEL } from '../../../kinds/fields/project-names.ts'
import type { AgentFacts } from '../../../plan/fleet/agent-diagnostics.ts'
import { agentChecks } from '../../checks/agent-checks.ts'
import { portsCheck } from '../../checks/port-checks.ts'
import { printChecks, worstOf } from '../../checks/check.ts'
import type { Check, CheckCategory } from '../../checks/check.ts'
import { clusterChecks } from '../../checks/cluster-checks.ts'
import type { ClusterFacts } from '../../checks/cluster-checks.ts'
import { hubChecks, uncheckedTokens } from '../../checks/hub-checks.ts'
import type { HubFacts } from '../../checks/hub-checks.ts'
import type { CliEnvironment } from '../../config.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { ASSIGNMENTS, CLUSTERS, JOIN_TOKENS, listAll, PROJECTS, REPORTS } from '../../api/flotilla-resources.ts'
import { readAttention } from '../../api/read-attention.ts'
import { readHubHealth, readMaintenance } from '../../api/read-maintenance.ts'
import { readDuration } from '../../input/duration-flag.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `check`. */
export interface CheckFlags {
  readonly pre?: boolean
  readonly hub?: boolean
  readonly agent?: boolean
  /** With `agent`: its data directory. */
  readonly data?: string
  readonly kubeconfig?: string
  readonly context?: string
  readonly output: 'table' | 'short' | 'json'
  readonly wait?: string
}

export interface CheckInput {
  readonly connect: () => Promise<Connection>
  readonly terminal: Terminal
  readonly environment: CliEnvironment
  readonly signal: AbortSignal
  readonly flags: CheckFlags
}

/** ValidatingAdmissionPolicies, as far as their age matters. */
const POLICIES: ResourceType = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  scope: 'Cluster',
}

const AGAIN_MS = 2_000
const MAX_TEXT_BYTES = 1024 * 1024

/** Runs the checks. With --wait, repeats them until none fails. */
export async function check(cluster: string | undefined, input: CheckInput): Promise<ExitCode> {
  const { flags, terminal, environment, signal } = input
  const [flag, other] = flags.hub
    ? ['--hub', 'the hub']
    : flags.agent
      ? ['--agent', 'the agent on this machine']
      : ['--pre', 'this machine']
  if (cluster !== undefined && (flags.hub || flags.pre || flags.agent)) {
    throw new CliError(EXIT.usage, {
      what: `${flag} checks ${other} and cannot be combined with a cluster`,
      todo: `omit ${flag} or the name of the cluster`,
    })
  }
  if (flags.data !== undefined && !flags.agent) {
    throw new CliError(EXIT.usage, { what: '--data requires --agent', todo: 'add --agent, or omit --data' })
  }
  const waitMs = flags.wait === undefined ? 0 : readDuration(flags.wait, '--wait')
  const until = systemClock.monotonicMs() + waitMs
  let categories = await runChecks(cluster, input)
  while (worstOf(categories) === 'failed' && systemClock.monotonicMs() < until) {
    await systemClock.sleep(AGAIN_MS, signal)
    categories = await runChecks(cluster, input)
  }
  const text = printChecks(categories, { format: flags.output, isUtf8: environment.isUtf8 })
  terminal.data(flags.output === 'json' ? text : terminal.command(text))
  if (worstOf(categories) !== 'failed') return EXIT.ok
  return waitMs > 0 ? EXIT.timeout : EXIT.failed
}

async function runChecks(cluster: string | undefined, input: CheckInput): Promise<CheckCategory[]> {
  if (input.flags.pre) return [{ name: 'this machine', checks: await machineChecks(input.environment) }]
  if (input.flags.agent) return agentChecks(await agentFacts(input), systemClock.now())
  const connection = await input.connect()
  const now = systemClock.now()
  if (cluster === undefined) return hubChecks(await hubFacts(connection, input.signal), now)
  return clusterChecks(await clusterFacts(connection, cluster), now)
}

/** What a hub or an agent needs on a machine. */
async function machineChecks({ nodeVersion, stateFolder }: CliEnvironment): Promise<Check[]> {
  const [major = 0] = nodeVersion.split('.').map(Number)
  const folder = await writableFolder(stateFolder)
  return [
    major >= 26
      ? { id: 'node', result: 'ok', text: `Node ${nodeVersion}` }
      : { id: 'node', result: 'failed', text: `Node ${nodeVersion}; version 26 is required` },
    folder === undefined
      ? { id: 'state-folder', result: 'ok', text: `${stateFolder} is writable` }
      : { id: 'state-folder', result: 'failed', text: `${stateFolder}: ${folder}` },
    await portsCheck(),
  ]
}

async function writableFolder(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = at.slice(0, at.lastIndexOf('/')) || '/') {
    try {
      if (!(await stat(at)).isDirectory()) return `${at} is not a directory`
      await access(at, constants.W_OK)
      return undefined
    } catch (caught) {
      const { code, message } = toError(caught) as NodeJS.ErrnoException
      if (code !== 'ENOENT' || at === '/') return message
    }
  }
}

async function agentFacts({ flags, environment, signal }: CheckInput): Promise<AgentFacts> {
  const { data, context, kubeconfig = environment.kubeconfigs?.files[0] } = flags
  if (data === undefined || kubeconfig === undefined) {
    throw new CliError(EXIT.usage, {
      what: `missing ${data === undefined ? '--data' : '--kubeconfig'}`,
      todo: 'run the command on the machine of the agent, with its flags: "flotilla check --agent --data DIR --kubeconfig FILE"',
    })
  }
  const [{ inspectAgent }, { proxyVariablesOf }] = await Promise.all([
    import('../../../agent/inspect/inspect-agent.ts'),
    import('../../../agent/config.ts'),
  ])
  return await inspectAgent(
    compact({
      dataDir: data,
      kubeconfig,
      proxyVariables: proxyVariablesOf(),
      clock: systemClock,
      signal,
      context,
    }),
  )
}

async function hubFacts(connection: Connection, signal: AbortSignal): Promise<HubFacts> {
  const { rest, server } = connection
  const base = { server, clientVersion: VERSION, certificateEndsMs: connection.certificateEndsMs?.() }
  const nothing = {
    ready: undefined,
    version: undefined,
    skewMs: undefined,
    mayList: false,
    pendingClusters: 0,
    gateways: [],
    clusters: undefined,
    rollouts: undefined,
    uncheckedTokens: undefined,
    migratedProjects: undefined,
    hubs: [],
    journals: [],
    attention: [],
    refused: [],
  }
  try {
    const { headers, version } = await readVersion(rest)
    const hubTime = headers['date'] === undefined ? undefined : parseHttpDate(headers['date'])
    const listed = await listClusters(rest)
    const { facts, items: attention, refused } = await readAttention(clientOver(rest), { clusters: listed ?? [] })
    return {
      ...base,
      problem: undefined,
      ready: await readiness(rest),
      hubs: (await readHubHealth(clientOver(rest))) ?? 'Unreadable',
      maintenance: await readMaintenance(clientOver(rest)),
      journals: await readJournals(rest),
      version,
      skewMs: hubTime === undefined ? undefined : hubTime - systemClock.now(),
      mayList: listed !== undefined,
      pendingClusters: (listed ?? []).filter(({ spec }) => !spec.accepted && !spec.refused).length,
      gateways: await gatewayFacts(rest, signal),
      clusters: listed,
      rollouts: refused.includes('rollouts') ? undefined : facts.rollouts,
      uncheckedTokens: await listUncheckedTokens(rest, systemClock.now()),
      migratedProjects: await listMigratedProjects(rest),
      former: await readFormerDefaults(rest),
      attention,
      refused,
    }
  } catch (caught) {
    return { ...base, ...nothing, problem: toError(caught).message }
  }
}

/** Asks each gateway of the hub, as an agent would before it joins. */
async function gatewayFacts(rest: Connection['rest'], signal: AbortSignal): Promise<HubFacts['gateways']> {
  const [{ readHubInfo }, { inspectGateway }, { proxyVariablesOf }] = await Promise.all([
    import('../../../hub/home/hub-info.ts'),
    import('../../../agent/inspect/inspect-gateway.ts'),
    import('../../../agent/config.ts'),
  ])
  try {
    const { endpoints, root } = await readHubInfo(clientOver(rest))
    const inspection = { root, trust: undefined, proxyVariables: proxyVariablesOf(), clock: systemClock, signal }
    return await settleAll(endpoints.map((endpoint) => inspectGateway(endpoint, inspection)))
  } catch (caught) {
    if (isApiError(caught, 'Forbidden')) return 'Unreadable'
    // Another API server than that of a hub.
    if (caught instanceof Stalled) return []
    throw caught
  }
}

async function readVersion(rest: Connection['rest']) {
  const { headers, text } = await readText(rest, '/version')
  const answer: unknown = JSON.parse(text)
  const version = isObject(answer) && typeof answer['gitVersion'] === 'string' ? answer['gitVersion'] : undefined
  return { headers, version }
}

async function readiness(rest: Connection['rest']): Promise<string> {
  try {
    return (await readText(rest, '/readyz')).text
  } catch (caught) {
    return toError(caught).message
  }
}

async function readText(rest: Connection['rest'], path: string) {
  const { headers, body } = await rest.stream({ method: 'GET', path }, AbortSignal.timeout(10_000))
  return { headers, text: fromUtf8(await readBody(body, MAX_TEXT_BYTES)) }
}

/** The heads of the journal's streams. */
async function readJournals(rest: Connection['rest']): Promise<HubFacts['journals']> {
  try {
    const options = { namespace: JOURNAL_NAMESPACE, labelSelector: JOURNAL_LABEL }
    const { items } = await clientOver(rest).list(Lease, options)
    return items.map(({ metadata: { name, annotations } }) => ({
      lease: name,
      head: parseJournalHead(annotations?.[JOURNAL_ANNOTATION]),
    }))
  } catch (caught) {
    if (isApiError(caught, 'Forbidden')) return 'Unreadable'
    throw caught
  }
}

/** Undefined if the caller may not list clusters. */
async function listClusters(rest: Connection['rest']): Promise<Cluster[] | undefined> {
  try {
    return await listAll(clientOver(rest), CLUSTERS)
  } catch (caught) {
    if (isApiError(caught, 'Forbidden')) return undefined
    throw caught
  }
}

/** Undefined if the caller may not read tokens or policies. */
async function listUncheckedTokens(rest: Connection['rest'], now: number): Promise<string[] | undefined> {
  const client = clientOver(rest)
  try {
    const policySince = await policyCreatedMs(client)
    const tokens = await listAll(client, JOIN_TOKENS)
    return uncheckedTokens(tokens, { policySince, now })
  } catch (caught) {
    if (isApiError(caught, 'Forbidden')) return undefined
    throw caught
  }
}

/** Projects that an upgrade made; undefined if the caller may not read them, or the hub does not know the kind. */
async function listMigratedProjects(rest: Connection['rest']): Promise<HubFacts['migratedProjects']> {
  try {
    const projects = await listAll(clientOver(rest), PROJECTS)
    return projects.flatMap(({ metadata }) => (metadata.labels?.[MIGRATED_LABEL] === undefined ? [] : metadata.name))
  } catch (caught) {
    if (isApiError(caught, 'Forbidden', 'NotFound')) return undefined
    throw caught
  }
}

/** What version 0.1 left open; undefined if the caller may not read it. */
async function readFormerDefaults(rest: Connection['rest']): Promise<HubFacts['former']> {
  const client = clientOver(rest)
  try {
    const laterSince = await policyCreatedMs(client)
    const role = await client.get(ClusterRole, { name: 'flotilla:aggregate-to-edit' })
    const editorsCreateRollouts = (role.rules ?? []).some(
      ({ resources = [], verbs }) =>
        resources.some((name) => name === 'rollouts' || name === '*') &&
        verbs.some((verb) => verb === 'create' || verb === '*'),
    )
    return { laterSince, editorsCreateRollouts }
  } catch (caught) {
    if (isApiError(caught, 'Forbidden', 'NotFound')) return undefined
    throw caught
  }
}

/** When the hub began to check the authors of tokens. */
async function policyCreatedMs(client: Pick<Client, 'get'>): Promise<number> {
  try {
    const { metadata } = await client.get(POLICIES, { name: 'jointokens-accept.flotilla.dev' })
    return parseTime(metadata.creationTimestamp ?? '') ?? Infinity
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return Infinity
    throw caught
  }
}

async function clusterFacts({ rest }: Connection, name: string): Promise<ClusterFacts> {
  const client = clientOver(rest)
  const read = async <T extends KubeObject>(kind: ResourceType<T>): Promise<T | undefined> => {
    try {
      return await client.get(kind, { name })
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    }
  }
  const [cluster, assignment, report] = await settleAll([read(CLUSTERS), read(ASSIGNMENTS), read(REPORTS)])
  if (cluster) return { cluster, assignment, report }
  throw new CliError(EXIT.notFound, {
    what: `cluster ${JSON.stringify(name)} not found`,
    todo: 'list clusters with "flotilla get clusters"',
  })
}
