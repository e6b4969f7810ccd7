/** `flotilla project add`, `list` and `show`. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import type { Project } from '../../../kinds/native/project.ts'
import { everythingAllowed, indexProjects } from '../../../plan/projects/project-of.ts'
import type { Connection } from '../../api/connect.ts'
import { listAll, PROJECTS } from '../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `project add`. */
export interface ProjectFlags {
  readonly namespace?: readonly string[]
  readonly source?: readonly string[]
  readonly kind?: readonly string[]
  readonly targetNamespace?: readonly string[]
  readonly clusterSet?: readonly string[]
  readonly executor?: string
  readonly plan?: readonly string[]
  readonly dryRun?: boolean
  readonly output?: string
}

/** What the commands about Projects receive. */
export interface ProjectInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: ProjectFlags
}

/** Creates a Project, or adds namespaces to an existing one. */
export async function projectAdd(name: string, input: ProjectInput): Promise<void> {
  const { terminal, flags } = input
  const namespaces = flags.namespace ?? []
  if (namespaces.length === 0) {
    throw new CliError(EXIT.usage, {
      what: 'missing --namespace',
      todo: 'name the namespaces of the hub that belong to it',
    })
  }
  const client = clientOver(input.connection.rest)
  const projects = await listAll(client, PROJECTS)
  refuseForeign(name, namespaces, projects)
  const options = { fieldManager: 'flotilla-cli', dryRun: flags.dryRun ?? false }
  const known = projects.find(({ metadata }) => metadata.name === name)
  if (known) {
    refuseLimits(name, flags)
    const all = [...new Set([...(known.spec.namespaces ?? []), ...namespaces])]
    await client.update(PROJECTS, { ...known, spec: { ...known.spec, namespaces: all } }, options)
    terminal.step('ok', `project "${name}" has ${nameSome(all, 5)}`)
    return
  }
  const spec = newSpec(namespaces, flags)
  const object = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Project', metadata: { name }, spec } as const
  await client.create(PROJECTS, object, options)
  terminal.step('ok', `project "${name}" has ${nameSome(namespaces, 5)}`)
  const open = openLines(spec)
  if (open.length > 0) {
    terminal.step(
      'warn',
      `it allows ${open.join(', ')}; give flags such as --kind and --executor, or edit its spec, to limit it`,
    )
  }
  terminal.step('next', `flotilla project show ${name}`)
}

function refuseForeign(name: string, namespaces: readonly string[], projects: readonly Project[]): void {
  const index = indexProjects(projects.filter(({ metadata }) => metadata.name !== name))
  for (const namespace of namespaces) {
    const [owner] = index.get(namespace) ?? []
    if (!owner) continue
    throw new CliError(EXIT.conflict, {
      what: `namespace "${namespace}" belongs to project "${owner.metadata.name}"`,
      why: 'a namespace in two Projects belongs to neither of them',
      todo: `remove it there first: kubectl edit project ${owner.metadata.name}`,
    })
  }
}

function refuseLimits(name: string, { source, kind, targetNamespace, clusterSet, executor, plan }: ProjectFlags): void {
  if ([source, kind, targetNamespace, clusterSet, executor, plan].every((flag) => flag === undefined)) return
  throw new CliError(EXIT.usage, {
    what: `project "${name}" exists: "project add" only adds namespaces to it`,
    todo: `change its limits with kubectl edit project ${name}`,
  })
}

// What no flag limits is allowed, so that one command is enough for a team of its own; the command says what is open.
function newSpec(namespaces: readonly string[], flags: ProjectFlags): Project['spec'] {
  const all = everythingAllowed(namespaces)
  return {
    ...all,
    ...(flags.source && { sources: [...flags.source] }),
    ...(flags.kind && { kinds: [...flags.kind] }),
    ...(flags.targetNamespace && { targetNamespaces: [...flags.targetNamespace] }),
    ...(flags.clusterSet && { clusterSets: [...flags.clusterSet] }),
    ...(flags.plan && { plans: [...flags.plan] }),
    ...(flags.executor !== undefined && { executors: { default: flags.executor } }),
  }
}

function openLines({ sources, kinds, targetNamespaces, clusterSets, executors }: Project['spec']): string[] {
  const open = (list: readonly string[] | undefined, words: string): string[] => (list?.includes('*') ? [words] : [])
  return [
    ...open(sources, 'all sources'),
    ...open(kinds, 'all kinds'),
    ...open(targetNamespaces, 'all target namespaces'),
    ...open(clusterSets, 'all clusters'),
    ...(executors?.ownRights ? ["the agents' own rights"] : []),
  ]
}

/** Lists the Projects. */
export async function projectList({ connection, terminal, flags }: ProjectInput): Promise<void> {
  const projects = await listAll(clientOver(connection.rest), PROJECTS)
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(projects, undefined, 2)}\n`)
  if (projects.length === 0) return terminal.say('No Projects found.')
  const rows = projects.map(({ metadata, spec, status }) => [
    metadata.name,
    (spec.namespaces ?? []).join(',') || '-',
    status?.usage ? String(status.usage.bundles) : 'unknown',
    String(status?.refused?.length ?? 0),
    openLines(spec).join(', ') || '-',
  ])
  terminal.data(`${alignColumns([['NAME', 'NAMESPACES', 'BUNDLES', 'REFUSED', 'OPEN'], ...rows])}\n`)
}

/** Shows what a Project allows, how much it uses and what it refuses now. */
export async function projectShow(name: string, { connection, terminal, flags }: ProjectInput): Promise<void> {
  const { metadata, spec, status } = await projectNamed(name, connection)
  if (flags.output === 'json') return terminal.data(`${JSON.stringify({ metadata, spec, status }, undefined, 2)}\n`)
  const list = (items: readonly string[] | undefined): string => (items && items.length > 0 ? items.join(', ') : 'none')
  const { executors = {}, quotas = {} } = spec
  const usage = (used: number | undefined, quota: number | undefined): string =>
    `${used ?? 'unknown'} of ${quota ?? 'unlimited'}`
  const rows = [
    ['Name:', metadata.name],
    ['Namespaces:', list(spec.namespaces)],
    ['Sources:', list(spec.sources)],
    ['Kinds:', list(spec.kinds)],
    ['Target namespaces:', list(spec.targetNamespaces)],
    ['ClusterSets:', list(spec.clusterSets)],
    ['Default executor:', executors.default ?? 'none'],
    ['Allowed executors:', list(executors.allowed)],
    ["Agent's own rights:", executors.ownRights ? 'allowed' : 'refused'],
    ['RolloutPlans:', list(spec.plans)],
    ['Bundles:', usage(status?.usage?.bundles, quotas.bundles)],
    ['Source objects:', usage(status?.usage?.sources, quotas.sources)],
    ['Bytes of sources:', usage(status?.usage?.bytes, quotas.bytes)],
  ]
  terminal.data(`${alignColumns(rows)}\n`)
  for (const { kind, object, message } of status?.refused ?? []) {
    terminal.data(`Refused: ${kind} ${object}: ${message}\n`)
  }
}

async function projectNamed(name: string, connection: Connection): Promise<Project> {
  const client = clientOver(connection.rest)
  try {
    return await client.get(PROJECTS, { name })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const names = (await listAll(client, PROJECTS)).map(({ metadata }) => metadata.name)
    throw new CliError(EXIT.notFound, {
      what: `project "${name}" not found`,
      todo: didYouMean(name, names) ?? 'list the Projects with "flotilla project list"',
    })
  }
}
