/** Content that an agent renders, as the hub prepares it, from the files of one chart. */
import { utf8 } from '../core/bytes.ts'
import type { PreparedContent } from '../render/bundle/prepare-content.ts'
import type { BundleRecipe } from '../render/bundle/recipe.ts'
import { renderVariant } from '../render/bundle/render-variant.ts'
import { NO_ENTROPY } from './fleet-repository.ts'

/** A chart at the root, by its templates. */
export function chartFilesFor(templates: Readonly<Record<string, string>>): Map<string, Uint8Array> {
  const about = 'apiVersion: v2\nname: app\nversion: 1.0.0\n'
  return new Map([
    ['Chart.yaml', utf8(about)],
    ...Object.entries(templates).map(([name, text]) => [`templates/${name}`, utf8(text)] as const),
  ])
}

/** What the hub delivers of it. */
export function chartContent(
  templates: Readonly<Record<string, string>>,
  options: Partial<BundleRecipe> = {},
): PreparedContent {
  const recipe: BundleRecipe = { bundle: 'default/app', at: 'Agent', ...options }
  const cluster = { name: 'store-1', labels: {}, annotations: {}, claims: {}, values: {} }
  const { result } = renderVariant(recipe, cluster, {
    files: chartFilesFor(templates),
    entropy: NO_ENTROPY,
    frozen: {},
  })
  if (result.ok !== 'prepared') throw new Error(`not prepared: ${JSON.stringify(result)}`)
  return result
}

/** A template of a ConfigMap with one value. */
export function configMapTemplate(value: string, name = 'app'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata:\n  v: '${value}'\n`
}
