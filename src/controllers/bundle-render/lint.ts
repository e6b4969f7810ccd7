/** What lint says about rendered content, as a condition: advice, which never holds anything back. */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import type { ConditionSet } from '../../engine/reconciler.ts'
import type { Finding } from '../../plan/lint/finding.ts'
import { lintContents } from '../../plan/lint/lint-objects.ts'
import type { SharedVariant } from '../../render/bundle/render-variants.ts'

/** About a tenth of a second; what more variants would tell is mostly the same. */
const MOST_OBJECTS = 5000
const MOST_SHOWN = 5
const MOST_CHARACTERS = 4096

/** Sets `Linted` for what was rendered; `isAddition`: for some clusters only, so that finding nothing says nothing about the others. */
export function showLint(
  conditions: ConditionSet,
  variants: readonly SharedVariant[],
  { clusters, isAddition }: { readonly clusters: readonly ClusterInputs[]; readonly isAddition: boolean },
): void {
  const found = findingsOf(variants, clusters)
  if (found.length === 0) {
    if (isAddition || !variants.some(({ result }) => result.ok === true)) return
    return conditions.set('Linted', 'True', 'NothingFound', 'Nothing was found in the rendered objects.')
  }
  const errors = found.filter(({ severity }) => severity === 'error')
  const ordered = [...errors, ...found.filter(({ severity }) => severity !== 'error')]
  const shown = ordered
    .slice(0, MOST_SHOWN)
    .map(({ message, todo, check }) => `${message}${todo === undefined ? '' : `; ${todo}`} [${check}]`)
  const more = ordered.length > MOST_SHOWN ? ` … and ${ordered.length - MOST_SHOWN} more.` : ''
  const reason = errors.length > 0 ? 'ErrorsFound' : 'WarningsFound'
  conditions.set('Linted', 'False', reason, `${shown.join('. ')}.${more}`.slice(0, MOST_CHARACTERS))
}

function findingsOf(variants: readonly SharedVariant[], clusters: readonly ClusterInputs[]): Finding[] {
  const versions = new Map(clusters.map(({ name, kubeVersion }) => [name, kubeVersion]))
  const contents = variants.flatMap(({ result, clusters: names }) => {
    if (result.ok !== true) return []
    const who = names.filter((name) => name !== '').map((name) => ({ name, kubeVersion: versions.get(name) }))
    return [{ objects: result.objects, clusters: who }]
  })
  // Kinds of CRDs are nobody's mistake.
  return lintContents(contents, MOST_OBJECTS).flatMap(({ found }) => (found.severity === 'note' ? [] : [found]))
}
