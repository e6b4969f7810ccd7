/** The text `helm template` prints for a rendered chart. */
import { trimSpace } from './functions/strings.ts'
import { HelmError } from './helm-error.ts'
import { splitManifests } from './manifests.ts'
import type { Hook } from './manifests.ts'
import { patternOrNone } from './chart/file-pattern.ts'
import type { HelmProfile } from './profile.ts'
import type { RenderedChart } from './render-chart.ts'

/** What to print. */
export interface OutputOptions {
  readonly includeCrds?: boolean
  readonly noHooks?: boolean
  readonly skipTests?: boolean
  /** Only documents of these templates, by name or pattern. */
  readonly showOnly?: readonly string[]
}

/** A document with the template it is from. */
export interface SourceDocument {
  readonly path: string
  readonly content: string
}

/** Documents in the order Helm prints them: CRDs, manifests, hooks. */
export function outputDocuments(
  rendered: RenderedChart,
  options: OutputOptions,
): { crds: SourceDocument[]; release: SourceDocument[]; hooks: SourceDocument[] } {
  const crds = options.includeCrds ? rendered.crds.map(({ filename, content }) => ({ path: filename, content })) : []
  return { crds, release: [...rendered.manifests], hooks: wantedHooks(rendered.hooks, options) }
}

function wantedHooks(hooks: readonly Hook[], { noHooks, skipTests }: OutputOptions): Hook[] {
  return noHooks ? [] : hooks.filter(({ events }) => !(skipTests && events.includes('test')))
}

/** What helm prints with --debug when templates failed: what came out of them, and the hooks found so far. */
export function failedOutput({ files, hooks }: HelmError, options: OutputOptions, profile: HelmProfile): string {
  const manifests = [...files]
    .filter(([, content]) => trimSpace(content) !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, content]) => documentText({ path, content }))
  return selectOutput(manifests.join(''), wantedHooks(hooks, options), { profile, showOnly: options.showOnly ?? [] })
}

/** A document as it is printed. */
export function documentText({ path, content }: SourceDocument): string {
  return `---\n# Source: ${path}\n${content}\n`
}

/** All of it, as it goes to stdout. */
export function templateOutput(rendered: RenderedChart, options: OutputOptions = {}): string {
  const { crds, release, hooks } = outputDocuments(rendered, options)
  const { profile } = rendered
  return selectOutput([...crds, ...release].map(documentText).join(''), hooks, {
    profile,
    showOnly: options.showOnly ?? [],
  })
}

/** Manifests, which a post-renderer may have changed, and hooks; only what was asked for. */
export function selectOutput(
  manifests: string,
  hooks: readonly SourceDocument[],
  { profile, showOnly }: { readonly profile: HelmProfile; readonly showOnly: readonly string[] },
): string {
  const text = `${trimSpace(manifests)}\n${hooks.map(documentText).join('')}`
  if (showOnly.length === 0) return text
  const documents = splitManifests(text, profile)
  return showOnly
    .flatMap((wanted) => {
      const pattern = patternOrNone(wanted)
      const found = documents.filter((document) => {
        const name = /# Source: [^/]+\/(.+)/.exec(document)?.[1]
        return name !== undefined && pattern.test(name)
      })
      if (found.length === 0) throw new HelmError(`could not find template ${wanted} in chart`)
      return found
    })
    .map((document) => `---\n${document}\n`)
    .join('')
}
