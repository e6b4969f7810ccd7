/** Reads a directory of plain manifests: selects its files and parses their documents. */
import { fromUtf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { RenderBudget } from '../helm/render-limits.ts'
import { renderRaw } from '../raw.ts'
import type { RenderProblem, RenderResult } from '../render-result.ts'
import { insidePath } from './detect-style.ts'
import type { Expander } from './expander.ts'
import { applyOverlays } from './overlays.ts'
import type { BundleRecipe, LayerOptions } from './recipe.ts'
import { OUT_OF_TIME, RenderFailure } from './render-failure.ts'

/** A file with manifests. */
export const MANIFEST = /\.(ya?ml|json)$/
const TEMPLATES = 'templates/'

/** What reading a directory works with. */
export interface RawRenderContext {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly expander: Expander | undefined
  readonly watch?: RenderBudget | undefined
  /** Renders files as the templates of a chart. */
  readonly templates: (files: ReadonlyMap<string, Uint8Array>) => string
}

/** Decodes the text of a file. Throws RenderFailure with the file's name when the text is not UTF-8. */
export function decodeManifestText(bytes: Uint8Array, path: string): string {
  try {
    return fromUtf8(bytes)
  } catch (error) {
    throw new RenderFailure('the file is not UTF-8', { file: path, cause: error })
  }
}

/** Reads the manifests of a directory. */
export function rawDirectory(
  directory: string,
  recipe: BundleRecipe,
  options: LayerOptions,
  { files, expander, watch, templates }: RawRenderContext,
): RenderResult {
  const folder = directory === '' ? '' : `${directory}/`
  const ignored = (recipe.ignore ?? []).map((one) => insidePath(directory, one, 'spec.source.ignore'))
  const own = new Map<string, Uint8Array>()
  for (const [path, bytes] of files) {
    const isIgnored = ignored.some((one) => path === one || path.startsWith(`${one}/`))
    if (path.startsWith(folder) && !isIgnored && counts(path, folder, recipe, files))
      own.set(path.slice(folder.length), bytes)
  }
  const overlaid = options.overlays === undefined ? own : applyOverlays(own, options.overlays)
  const isTemplate = (path: string): boolean => recipe.raw?.templates === 'Render' && path.startsWith(TEMPLATES)
  const paths = [...overlaid.keys()].filter((path) => MANIFEST.test(path) && !isTemplate(path)).sort()
  const charted = new Map([...overlaid].filter(([path]) => isTemplate(path)))
  if (paths.length === 0 && charted.size === 0) {
    throw new RenderFailure(
      `${JSON.stringify(directory || '.')} holds no .yaml, .yml or .json file${elsewhere(folder, files)}`,
    )
  }
  const objects: UnknownObject[] = []
  const problems: RenderProblem[] = []
  const read = (text: string, file: string): void => {
    const result = renderRaw(text, isLenient(recipe) ? { isOther: (value) => !hasKind(value) } : {})
    if (result.ok) objects.push(...result.objects)
    else problems.push(...result.problems.map((problem) => ({ ...problem, file })))
  }
  for (const path of paths) {
    const file = `${folder}${path}`
    if (watch?.(() => file, 'file') === 'stop') throw new RenderFailure(OUT_OF_TIME, { file })
    const text = decodeManifestText(overlaid.get(path)!, file)
    read(expander ? expander.expand(text, file) : text, file)
  }
  if (charted.size > 0) read(templates(charted), `${folder}${TEMPLATES}`)
  return problems.length > 0 ? { ok: false, problems } : { ok: true, objects }
}

function isLenient({ raw }: BundleRecipe): boolean {
  return raw?.otherDocuments === 'Skip'
}

function hasKind(value: unknown): boolean {
  return isObject(value) && typeof value['kind'] === 'string' && value['kind'] !== ''
}

function counts(path: string, folder: string, recipe: BundleRecipe, files: RawRenderContext['files']): boolean {
  if (isHidden(path.slice(folder.length))) return false
  return !isInNested(path, folder, { files, withKustomizations: recipe.raw?.kustomizations === 'Include' })
}

/** Names directories whose content counts only when an option names them, as a hint for the message. */
function elsewhere(folder: string, files: RawRenderContext['files']): string {
  for (const [name, option] of [...KUSTOMIZATIONS.map((name) => [name, 'kustomize.dir'] as const), CHART_MARK]) {
    const found = [...files.keys()].filter((path) => path.startsWith(folder) && path.endsWith(`/${name}`)).sort()[0]
    const below = found?.slice(folder.length, -name.length - 1)
    if (below) return ` of its own; what is in ${JSON.stringify(below)} counts for those whose ${option} names it`
  }
  return ''
}

const CHART_MARK = ['Chart.yaml', 'helm.chart'] as const

function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'))
}

const KUSTOMIZATIONS = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** Returns true for a file below a nested chart or kustomization, which is not part of these plain manifests. */
function isInNested(
  path: string,
  folder: string,
  { files, withKustomizations }: { readonly files: RawRenderContext['files']; readonly withKustomizations: boolean },
): boolean {
  const marks = ['Chart.yaml', ...(withKustomizations ? [] : KUSTOMIZATIONS)]
  const parts = path.slice(folder.length).split('/').slice(0, -1)
  return parts.some((_, at) => {
    const nested = `${folder}${parts.slice(0, at + 1).join('/')}`
    return marks.some((name) => files.has(`${nested}/${name}`))
  })
}
