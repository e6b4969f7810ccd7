/** Detects what a directory contains: a chart, a kustomization, both, or plain manifests. */
import { compact } from '../../core/compact.ts'
import type { BundleRecipe, LayerOptions } from './recipe.ts'
import { RenderFailure } from './render-failure.ts'

/** The style, with the paths to its content in the order of processing. */
export type Style =
  | { readonly kind: 'Raw'; readonly directory: string }
  | { readonly kind: 'Kustomize'; readonly directory: string }
  | { readonly kind: 'Helm'; readonly chart: string; readonly kustomize?: string }

const KUSTOMIZATIONS = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** Joins paths inside the repository. Throws RenderFailure for a path that leaves it. */
export function insidePath(base: string, path: string, what: string): string {
  if (path.startsWith('/')) {
    throw new RenderFailure(
      `${what} names ${JSON.stringify(path)}, which is absolute; paths are relative, inside the repository`,
    )
  }
  const parts: string[] = []
  for (const part of `${base}/${path}`.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) {
      throw new RenderFailure(`${what} names ${JSON.stringify(path)}, which is outside the repository`)
    }
  }
  return parts.join('/')
}

/** Decides the style. The style that the recipe names wins over the detected style. */
export function detectStyle(
  recipe: Pick<BundleRecipe, 'path' | 'style'>,
  options: LayerOptions,
  has: (path: string) => boolean,
): Style {
  const base = insidePath('', recipe.path ?? '', 'spec.source.path')
  const at = (directory: string, name: string): string => (directory === '' ? name : `${directory}/${name}`)
  const chart = options.helm?.chart === undefined ? base : insidePath(base, options.helm.chart, 'helm.chart')
  const dir = options.kustomize?.dir === undefined ? base : insidePath(base, options.kustomize.dir, 'kustomize.dir')
  const hasChart = has(at(chart, 'Chart.yaml')) || (chart.endsWith('.tgz') && has(chart))
  const hasKustomization = KUSTOMIZATIONS.some((name) => has(at(dir, name)))
  const mustBe = (style: string, found: boolean, where: string): void => {
    if (!found) throw new RenderFailure(`spec asks for ${style}, and ${JSON.stringify(where || '.')} holds none`)
  }
  if (options.helm?.chart !== undefined || recipe.style === 'Helm') mustBe('a chart', hasChart, chart)
  if (options.kustomize?.dir !== undefined || recipe.style === 'Kustomize')
    mustBe('a kustomization', hasKustomization, dir)
  if (recipe.style === 'Raw') return { kind: 'Raw', directory: base }
  if (hasChart && recipe.style !== 'Kustomize') {
    // A kustomization inside the chart's own directory counts only when the recipe names it.
    const both = hasKustomization && (dir !== chart || options.kustomize?.dir !== undefined) && recipe.style !== 'Helm'
    return compact({ kind: 'Helm', chart, kustomize: both ? dir : undefined })
  }
  if (hasKustomization) return { kind: 'Kustomize', directory: dir }
  return { kind: 'Raw', directory: base }
}

/** The file names that a kustomization may have; the first existing file counts. */
export function kustomizationNames(directory: string): string[] {
  return KUSTOMIZATIONS.map((name) => (directory === '' ? name : `${directory}/${name}`))
}

/** The path of the kustomization in a directory. */
export function kustomizationIn(directory: string, has: (path: string) => boolean): string {
  const found = kustomizationNames(directory).find(has)
  if (found === undefined) throw new RenderFailure(`${JSON.stringify(directory)} holds no kustomization`)
  return found
}
