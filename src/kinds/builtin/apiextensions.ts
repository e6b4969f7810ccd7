import type { Condition, KubeObject } from '../meta.ts'
import { builtinKind } from './kind-table.ts'

/** The names of a custom kind. */
export interface CrdNames {
  plural: string
  kind: string
  singular?: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

/** A version of a custom kind. */
export interface CrdVersion {
  name: string
  served: boolean
  storage: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: { openAPIV3Schema?: object }
  subresources?: {
    status?: object
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string }
  }
  additionalPrinterColumns?: {
    name: string
    type: string
    jsonPath: string
    format?: string
    description?: string
    priority?: number
  }[]
  selectableFields?: { jsonPath: string }[]
}

/** What the server says about a custom kind. */
export interface CrdStatus {
  conditions?: Omit<Condition, 'observedGeneration'>[]
  acceptedNames?: CrdNames
  storedVersions?: string[]
}

/** A definition of kinds at run time. */
export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string
    scope: string
    names: CrdNames
    versions: CrdVersion[]
    conversion?: { strategy: string }
    preserveUnknownFields?: boolean
  }
  status?: CrdStatus
}

/** A definition of kinds at run time. */
export const CustomResourceDefinition = builtinKind<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
)
