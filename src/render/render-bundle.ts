import { renderRaw } from './raw.ts'
import type { RenderResult } from './rendered.ts'
import { namespaceForBuiltIns } from './scope.ts'

/** What a bundle is rendered from; plain data, so that it may travel to another thread. */
export interface RenderInput {
  /** YAML documents. */
  readonly manifests: string
  /** Where built-in namespaced objects go that name no namespace. */
  readonly defaultNamespace: string
}

/** Renders a bundle; hubs call it in a thread of its own, the simulator in place. */
export function renderBundle(input: RenderInput): RenderResult {
  return renderRaw(input.manifests, { namespaceFor: namespaceForBuiltIns(input.defaultNamespace) })
}
