/**
 * Values that are read in the cluster: which values a recipe names, and how they are merged over the rendered values.
 */
import { utf8 } from '../../../core/bytes.ts'
import { mergeMaps, readValues } from '../../helm/values/values-file.ts'
import { copyTable } from '../../helm/values/dict.ts'
import type { Dict } from '../../helm/values/dict.ts'
import type { HelmProfile } from '../../helm/profile.ts'
import { UnmarshalError } from '../../helm/read-yaml.ts'
import { parseInto, StrvalsError } from '../../helm/values/strvals.ts'
import { VALUES_KEY } from './cluster-keys.ts'
import type { ClusterValues } from '../recipe.ts'
import { RenderFailure } from '../render-failure.ts'
import type { ClusterReads } from '../render-context.ts'

/**
 * Merges the values of the cluster over the given values; later references win. No message repeats a value that was
 * read.
 */
export function withClusterValues(
  values: Dict,
  refs: readonly ClusterValues[] = [],
  { values: texts }: ClusterReads,
  profile: HelmProfile,
): Dict {
  let all = values
  for (const [index, { kind, name, key = VALUES_KEY, targetPath }] of refs.entries()) {
    const text = texts[index]
    if (text === undefined) continue
    const what = `key ${key} of ${kind} ${name}`
    try {
      if (targetPath === undefined) all = mergeMaps(all, readValues(utf8(text), profile))
      else all = withValueAt(all, targetPath, text)
    } catch (caught) {
      if (caught instanceof StrvalsError) {
        throw new RenderFailure(`helm.valuesFrom: targetPath ${JSON.stringify(targetPath)} is no path of a value`)
      }
      if (!(caught instanceof UnmarshalError)) throw caught
      throw new RenderFailure(`helm.valuesFrom: ${what} is not YAML with a map of values`)
    }
  }
  return all
}

/** Sets the text at a path of --set. A text that looks like a number stays text. */
function withValueAt(values: Dict, path: string, text: string): Dict {
  if (/[=,]/.test(path)) throw new StrvalsError('the path must not contain "=" or ","')
  const placed = copyTable(values)
  parseInto(`${path}=text`, placed, { kind: 'file', read: () => text })
  return placed
}
