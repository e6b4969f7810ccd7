import { digest, object, optional, text } from '../schema/schema-builders.ts'

/** The field `object` of rows about one object that a Bundle delivers. */
export function desiredObject(description: string) {
  return object(
    {
      apiVersion: text({ max: 317, description: 'API version of the object.' }),
      kind: text({ max: 63, description: 'Kind of the object.' }),
      namespace: optional(
        text({ max: 63, description: 'Namespace of the object. Absent for a cluster-scoped object.' }),
      ),
      name: text({ max: 253, description: 'Name of the object.' }),
      digest: digest({ description: 'Digest of the desired object.' }),
    },
    { description },
  )
}
