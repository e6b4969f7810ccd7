/** Builds kustomizations that belong to no Bundle, to find missing files. */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { isObject } from '../../core/json.ts'
import { finding } from '../../plan/lint/finding.ts'
import { renderVariants } from '../../render/bundle/render-variants.ts'
import type { RenderProblem } from '../../render/render-result.ts'
import { readYaml } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { ENTROPY } from '../repository/bundle-recipe.ts'
import type { PlacedFinding } from './read-definitions.ts'

const KUSTOMIZATION = /(^|\/)kustomization\.ya?ml$/
const MOST = 200

/** Build errors of the kustomizations. A mistake of a shared base is reported once. */
export function lintBuilds(
  names: readonly string[],
  files: ReadonlyMap<string, Uint8Array>,
  cluster: ClusterInputs,
): PlacedFinding[] {
  const told = new Map<string, PlacedFinding>()
  // Bases before their overlays.
  const found = names.filter((name) => KUSTOMIZATION.test(name) && isComplete(files.get(name)))
  for (const name of found.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MOST)) {
    const path = name.replace(KUSTOMIZATION, '')
    const recipe = { bundle: `here/${path || '.'}`, path, style: 'Kustomize' as const, allowSecrets: true }
    const { variants } = renderVariants({ recipe, clusters: [cluster], frozen: {} }, { files, entropy: ENTROPY })
    for (const { result } of variants) {
      if (result.ok !== false) continue
      for (const problem of result.problems) {
        // An overlay repeats the error of its base.
        const isTold = [...told.keys()].some((message) => problem.message.includes(message))
        if (!isTold) told.set(problem.message, findingOf(problem, name, path))
      }
    }
  }
  return [...told.values()]
}

function findingOf({ message, file, line = 1, column = 1 }: RenderProblem, name: string, path: string): PlacedFinding {
  const words = `cannot build kustomization ${path || '.'}: ${message}`
  return { ...finding('cannot-render', words), file: file ?? name, line, column }
}

/** Components, and kustomizations without resources, cannot be built alone. */
function isComplete(bytes: Uint8Array | undefined): boolean {
  let value: unknown
  try {
    value = bytes && readYaml(bytes, { resolver: '1.1' })[0]?.value
  } catch (caught) {
    if (caught instanceof YamlError) return false // said already
    throw caught
  }
  if (!isObject(value) || value['kind'] === 'Component') return false
  return ['resources', 'bases'].some((field) => Array.isArray(value[field]) && value[field].length > 0)
}
