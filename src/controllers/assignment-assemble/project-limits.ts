// Tested by src/controllers/assignment-assemble/reconcile.test.ts
/** What Projects freeze of a cluster's admissions, and the limits that the cluster's document carries. */
import { compact } from '../../core/compact.ts'
import { Stalled } from '../../core/errors.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { nameSome } from '../../core/text/name-some.ts'
import { deliveryKeyOf } from '../../kinds/native/delivery.ts'
import type { AssembledEntry } from '../../plan/document/assemble-document.ts'
import { contentRefusals, refusalMessage } from '../../plan/projects/decide.ts'
import { allLimitsOf, limitsOf, setExecutorRefusal } from '../../plan/projects/limits.ts'
import type { DocumentRules } from '../../wire/document/cluster-document.ts'
import type { ProjectOfNamespace } from '../caches/namespace-projects.ts'
import type { SetFactsOf } from './set-facts.ts'

// The maximum of a sentence in a document.
const MAX_SENTENCE = 1024

/** What the decision about an admission reads. */
export interface AdmissionPorts {
  readonly projectOf: ProjectOfNamespace
  readonly factsOf: SetFactsOf
  /** Why a Bundle on the cluster is frozen, without a look at its objects. */
  freezeOf(bundle: string, cluster: string): string | undefined
}

/** The admissions of a cluster: which admissions its document takes, and why the rest waits. */
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
  const executor = setExecutorRefusal(allLimitsOf(project), facts.executor)
  const lines = [...contentRefusals(project, facts.objects), ...(executor === undefined ? [] : [executor])]
  return lines.length === 0 ? undefined : refusalMessage({ reason: 'ProjectRefuses', lines })
}

/**
 * The Projects that limit bundles of the document, in the order of their names, and the namespaces that have lost their
 * Project.
 */
export function projectRules(
  bundles: readonly { readonly bundle: string }[],
  projectOf: ProjectOfNamespace,
): Pick<DocumentRules, 'projects' | 'withoutProject'> {
  const namespaces = [...new Set(bundles.map(namespaceOf))].toSorted(compareText)
  // A Delivery needs no Project.
  const needing = new Set(bundles.filter(({ bundle }) => !deliveryKeyOf(bundle)).map(namespaceOf))
  const rules = new Map<string, NonNullable<DocumentRules['projects']>[number]>()
  const withoutProject: NonNullable<DocumentRules['withoutProject']>[number][] = []
  for (const namespace of namespaces) {
    const { project, refusal } = projectOf(namespace)
    if (refusal && needing.has(namespace))
      withoutProject.push({ namespace, message: refusalMessage(refusal).slice(0, MAX_SENTENCE) })
    const limits = project && limitsOf(project)
    if (!limits) continue
    const listed = rules.get(limits.name)?.namespaces ?? []
    rules.set(limits.name, { ...limits, namespaces: [...listed, namespace] })
  }
  const projects = [...rules.values()].toSorted((a, b) => compareText(a.name, b.name))
  return compact({
    projects: projects.length === 0 ? undefined : projects,
    withoutProject: withoutProject.length === 0 ? undefined : withoutProject,
  })
}

function namespaceOf({ bundle }: { readonly bundle: string }): string {
  return bundle.slice(0, bundle.indexOf('/'))
}
