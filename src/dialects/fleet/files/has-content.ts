/** Whether a directory has content to deploy. */
import { fromUtf8 } from '../../../core/bytes.ts'
import type { ScannedBundle } from './scan.ts'

const MARKS = ['Chart.yaml', 'kustomization.yaml', 'kustomization.yml', 'Kustomization']
/** The most files that are read here; a directory with more files is read when it is rendered. */
const MOST_LOOKED_INTO = 64

/** Whether a directory has a chart, a kustomization, or a manifest that is no settings file of another tool. */
export function hasContent(
  { files, ignored, path, fleetYaml }: ScannedBundle,
  layers: readonly {
    readonly helm?: { readonly chart?: string | undefined } | undefined
    readonly kustomize?: unknown
  }[],
  file: (path: string) => Uint8Array | undefined,
): boolean {
  const names = new Set(files)
  if (MARKS.some((name) => names.has(name))) return true
  if (layers.some(({ helm, kustomize }) => kustomize !== undefined || helm?.chart !== undefined)) return true
  const charts = files.filter((name) => name.endsWith('/Chart.yaml')).map((name) => name.slice(0, -'Chart.yaml'.length))
  const manifests = files.filter(
    (name) =>
      /\.(ya?ml|json)$/.test(name) &&
      !/^fleet\.ya?ml$/.test(name) &&
      !charts.some((chart) => name.startsWith(chart)) &&
      !ignored.some((one) => name.startsWith(`${one}/`)),
  )
  // A directory with a fleet.yaml is always a bundle; other settings files are not content.
  if (fleetYaml !== undefined || manifests.length > MOST_LOOKED_INTO) return manifests.length > 0
  const folder = path === '' ? '' : `${path}/`
  return manifests.map((name) => mayHoldObject(file(`${folder}${name}`))).some(Boolean)
}

/** Files whose bytes are not known yet may have content. */
function mayHoldObject(bytes: Uint8Array | undefined): boolean {
  if (!bytes) return true
  try {
    return /(^|[\s{,"'])["']?kind["']?\s*:/.test(fromUtf8(bytes))
  } catch {
    return true
  }
}
