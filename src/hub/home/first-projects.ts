/**
 * Projects that a hub makes itself, each once: `default` at its first start, one for each namespace that already has
 * Bundles or Placements when a hub of an earlier version is upgraded, and those of its dialects. A Project that a user
 * deletes later stays deleted.
 */
import type { Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { MIGRATED_LABEL } from '../../kinds/fields/project-names.ts'
import { Project } from '../../kinds/native/project.ts'
import { everythingAllowed, indexProjects } from '../../plan/projects/project-of.ts'
import { ensureNamespace, SYSTEM_NAMESPACE } from './hub-info.ts'

/** The ConfigMap that records what was made. */
const MARKS = { namespace: SYSTEM_NAMESPACE, name: 'flotilla-projects' } as const
const FIRST_START = 'first-start'
const DEFAULT = 'default'
const PAGE = 500

interface Parts {
  readonly client: Client
  readonly signal: AbortSignal
}

/** Makes the Projects of the first start and of an upgrade; returns the namespaces that an upgrade migrated. */
export async function installFirstProjects(parts: Parts): Promise<readonly string[]> {
  if (await isMarked(parts, FIRST_START)) return []
  const index = indexProjects(await listAll(parts, Project))
  const used = new Set<string>()
  for (const type of [Bundle, Placement]) {
    for (const { metadata } of await listAll<KubeObject>(parts, type)) used.add(metadata.namespace ?? '')
  }
  const migrated = [...used].filter((namespace) => namespace !== DEFAULT && !index.has(namespace)).toSorted(compareText)
  if (!index.has(DEFAULT)) await createProject(parts, DEFAULT, DEFAULT)
  for (const namespace of migrated) {
    await createProject(parts, `migrated-${namespace}`, namespace, { [MIGRATED_LABEL]: 'true' })
  }
  await mark(parts, FIRST_START)
  return migrated
}

/** Makes a Project of the same name for each namespace that a dialect owns. */
export async function installDialectProjects(
  parts: Parts,
  dialect: string,
  namespaces: readonly string[],
): Promise<void> {
  if (namespaces.length === 0 || (await isMarked(parts, `dialect-${dialect}`))) return
  const index = indexProjects(await listAll(parts, Project))
  for (const namespace of namespaces) if (!index.has(namespace)) await createProject(parts, namespace, namespace)
  await mark(parts, `dialect-${dialect}`)
}

async function createProject(
  { client, signal }: Parts,
  name: string,
  namespace: string,
  labels?: Record<string, string>,
): Promise<void> {
  const project: Project = {
    apiVersion: apiVersionOf(Project),
    kind: Project.kind,
    metadata: compact({ name, labels }),
    spec: everythingAllowed([namespace]),
  }
  try {
    await client.create(Project, project, { fieldManager: 'flotilla-hub', signal })
  } catch (caught) {
    // Another hub of the same home has made it meanwhile.
    if (!isApiError(caught, 'AlreadyExists')) throw caught
  }
}

async function isMarked({ client, signal }: Parts, key: string): Promise<boolean> {
  return (await findObject(client, ConfigMap, MARKS, signal))?.data?.[key] !== undefined
}

async function mark({ client, signal }: Parts, key: string): Promise<void> {
  await ensureNamespace(client, SYSTEM_NAMESPACE)
  const marks = { apiVersion: apiVersionOf(ConfigMap), kind: ConfigMap.kind, metadata: MARKS, data: { [key]: 'done' } }
  // Each mark has a field manager of its own: an apply that leaves a field out removes it.
  await client.apply(ConfigMap, marks, { fieldManager: `flotilla-hub-${key}`, force: true, signal })
}

async function listAll<T extends KubeObject>({ client, signal }: Parts, type: ResourceType<T>): Promise<T[]> {
  const found: T[] = []
  let token: string | undefined
  do {
    const page = await client.list(type, compact({ limit: PAGE, continue: token }), signal)
    found.push(...page.items)
    token = page.continue
  } while (token !== undefined)
  return found
}
