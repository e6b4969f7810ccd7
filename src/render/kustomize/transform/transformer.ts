/** What transformers have in common. */
import type { Loader } from '../loader.ts'
import type { MergeSchemas } from '../patch/merge-schema.ts'
import type { ResourceMap } from '../resources/resource-map.ts'

/** A configured transformer. */
export type Transformer = (map: ResourceMap) => void

/** What a transformer may use while it is configured. */
export interface TransformerPorts {
  readonly loader: Loader
  /** The schemas in force when the transformer runs, not when it is configured. */
  readonly schemas: () => MergeSchemas
}
