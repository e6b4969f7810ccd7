// Tested by src/controllers/assignment-assemble/reconcile.test.ts
/** What Projects freeze of a cluster's admissions, and the limits that the cluster's document carries. */
import { Stalled } from '../../core/errors.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Project } from '../../kinds/native/project.ts'
import type { Executor } from '../../plan/apply/local-limits.ts'
import type { AssembledEntry } from '../../plan/document/assemble-document.ts'
import { contentRefusals, refusalMessage } from '../../plan/projects/decide.ts'
import { allLimitsOf, decideExecutor, limitsOf } from '../../plan/projects/limits.ts'
import type { DocumentRules } from '../../wire/document/cluster-document.ts'
import { FEATURES, PROJECTS_FEATURE } from '../../wire/document/signed-document.ts'
import type { ProjectOfNamespace } from '../caches/namespace-projects.ts'
import type { SetFactsOf } from './set-facts.ts'

/** What the decision about an admission reads. */
export interface AdmissionPorts {
  readonly projectOf: ProjectOfNamespace
  readonly factsOf: SetFactsOf
  /** Why a Bundle on the cluster is frozen, without a look at its objects. */
  freezeOf(bundle: string, cluster: string): string | undefined
}

/** The admissions of a cluster: those that its document takes, and why the others wait. */
export interface SplitAdmissions {
  readonly allowed: readonly AssembledEntry[]
  readonly frozen?: Stalled
}

/** Leaves out the admissions that the Project of their namespace no longer allows. What the cluster runs stays. */
export async function splitAdmissions(
  cluster: string,
  {
    admissions,
    entries,
  }: { readonly admissions: readonly AssembledEntry[]; readonly entries: readonly AssembledEntry[] },
  ports: AdmissionPorts,
): Promise<SplitAdmissions> {
  const present = new Map(entries.map((entry) => [entry.bundle, entry]))
  const allowed: AssembledEntry[] = []
  const refused: { readonly bundle: string; readonly message: string }[] = []
  for (const admission of admissions) {
    const message = isThere(present.get(admission.bundle), admission)
      ? undefined
      : await freezeOf(cluster, admission, ports)
    if (message === undefined) allowed.push(admission)
    else refused.push({ bundle: admission.bundle, message })
  }
  const [first] = refused
  if (!first) return { allowed }
  const names = nameSome(refused.map(({ bundle }) => bundle))
  const frozen = new Stalled('ProjectRefuses', `${names} not delivered: ${first.message} What the cluster runs stays.`)
  return { allowed, frozen }
}

function isThere(present: AssembledEntry | undefined, { generation, set }: AssembledEntry): boolean {
  return present?.generation === generation && present.set === set
}

async function freezeOf(cluster: string, entry: AssembledEntry, ports: AdmissionPorts): Promise<string | undefined> {
  const known = ports.freezeOf(entry.bundle, cluster)
  const { project } = ports.projectOf(namespaceOf(entry))
  if (known !== undefined || !project) return known
  const facts = await ports.factsOf(entry.set)
  if (!facts) return undefined
  const lines = [...contentRefusals(project, facts.objects), ...executorLines(project, facts.executor)]
  return lines.length === 0 ? undefined : refusalMessage({ reason: 'ProjectRefuses', lines })
}

/** Why the executor of a set is refused; a set that was rendered before the Project had a default has none. */
function executorLines(project: Project, asked: Executor | undefined): readonly string[] {
  const { executor, refusal } = decideExecutor(allLimitsOf(project), asked)
  if (refusal !== undefined) return [refusal]
  if (asked || !executor) return []
  const { metadata, spec } = project
  return [
    `Project ${metadata.name}: spec.executors.default is ${spec.executors?.default}, and the content was rendered without it`,
  ]
}

/** The Projects that limit entries of the document, in the order of their names. */
export function projectRules(
  entries: readonly { readonly bundle: string }[],
  projectOf: ProjectOfNamespace,
): Pick<DocumentRules, 'projects'> {
  // A document must not ask more of an agent than the agents of this version have.
  if (!FEATURES.includes(PROJECTS_FEATURE)) return {}
  const namespaces = [...new Set(entries.map(namespaceOf))].toSorted(compareText)
  const rules = new Map<string, NonNullable<DocumentRules['projects']>[number]>()
  for (const namespace of namespaces) {
    const { project } = projectOf(namespace)
    const limits = project && limitsOf(project)
    if (!limits) continue
    const listed = rules.get(limits.name)?.namespaces ?? []
    rules.set(limits.name, { ...limits, namespaces: [...listed, namespace] })
  }
  const projects = [...rules.values()].toSorted((a, b) => compareText(a.name, b.name))
  return projects.length === 0 ? {} : { projects }
}

function namespaceOf({ bundle }: { readonly bundle: string }): string {
  return bundle.slice(0, bundle.indexOf('/'))
}
