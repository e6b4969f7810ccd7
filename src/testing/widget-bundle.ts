import type { ResourceType, UnknownObject } from '../kinds/meta.ts'
import { configMap, deployment } from './wire-hub.ts'

/** A kind that a bundle brings itself. */
export const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
}

const crd: UnknownObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } } },
          },
        },
      },
    ],
  },
}
const widget = (i: number): UnknownObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: `widget-${i}`, namespace: 'shop' },
  spec: {},
})

/** Fifty objects: a namespace, a CRD with objects of it, ConfigMaps and Deployments. */
export function widgetBundle(version: string): UnknownObject[] {
  return [
    ...Array.from({ length: 20 }, (_, i) => widget(i)),
    crd,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    ...Array.from({ length: 24 }, (_, i) => configMap(`map-${i}`, { version }, 'shop')),
    ...['a', 'b', 'c', 'd'].map((name) => deployment(name, `web:${version}`, 'shop')),
  ]
}
