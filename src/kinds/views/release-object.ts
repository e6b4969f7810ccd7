import { digest, int, name } from '../schema/schema-builders.ts'
import { defineView } from './define-view.ts'
import { desiredObject } from './desired-object.ts'

/** An object of the content of a Release: a row that the hub computes for each request and never stores. */
export const ReleaseObject = defineView({
  kind: 'ReleaseObject',
  plural: 'releaseobjects',
  scope: 'Namespaced',
  shortNames: ['freo'],
  description:
    'Object in the content of a Release, without its fields. Two Releases are compared by the digests of their objects. A ReleaseObject is read-only and is in the namespace of its Release.',
  fields: {
    release: name({ description: 'Name of the Release in this namespace.' }),
    bundle: name({ description: 'Name of the Bundle in this namespace.' }),
    generation: int({ description: "Generation of the Bundle's content." }),
    set: digest({ description: 'Digest of the set that has the object. A Bundle with variants has several sets.' }),
    object: desiredObject('Object as it is delivered to clusters.'),
  },
  selectable: ['release', 'bundle', 'set'],
  columns: [
    { name: 'Release', type: 'string', jsonPath: '.release' },
    { name: 'Bundle', type: 'string', jsonPath: '.bundle' },
    { name: 'Kind', type: 'string', jsonPath: '.object.kind' },
    { name: 'Namespace', type: 'string', jsonPath: '.object.namespace' },
    { name: 'Object', type: 'string', jsonPath: '.object.name' },
    { name: 'Digest', type: 'string', jsonPath: '.object.digest' },
    { name: 'Set', type: 'string', jsonPath: '.set', priority: 1 },
  ],
})
