/** What containers mount, and at which paths: each volume must be there, each path be used once. */
import type { JsonObject } from '../../../core/json.ts'
import { forbidden, invalid, notFound, notSupported, required } from '../../validation/field-error.ts'
import type { FieldError } from '../../validation/field-error.ts'
import { relativePath } from './value-validators.ts'
import { readPath, itemsAt, textAt } from '../read-path.ts'

/** Volumes by their names. */
export type Volumes = ReadonlyMap<string, JsonObject>

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None']

/** What is wrong with the mounts and devices of a container. */
export function mountErrors(container: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const mounts = itemsAt(container, 'volumeMounts')
  const devices = itemsAt(container, 'volumeDevices')
  return [
    ...volumeMountErrors(mounts, { container, volumes, path, devices }),
    ...deviceErrors(devices, { volumes, path, mounts }),
  ]
}

function volumeMountErrors(
  mounts: readonly JsonObject[],
  {
    container,
    volumes,
    path,
    devices,
  }: {
    readonly container: JsonObject
    readonly volumes: Volumes
    readonly path: string
    readonly devices: readonly JsonObject[]
  },
): FieldError[] {
  const list = `${path}.volumeMounts`
  const names = textsOf(devices, 'name')
  const paths = textsOf(devices, 'devicePath')
  const seen = new Set<string>()
  return mounts.flatMap((mount, index) => {
    const errors: FieldError[] = []
    const [name, mountPath] = [textAt(mount, 'name'), textAt(mount, 'mountPath')]
    const [nameField, pathField] = [`${list}[${index}].name`, `${list}[${index}].mountPath`]
    if (name === '') errors.push(required(nameField))
    if (!volumes.has(name)) errors.push(notFound(nameField, name))
    if (mountPath === '') errors.push(required(pathField))
    if (seen.has(mountPath)) errors.push(invalid(pathField, mountPath, 'must be unique'))
    seen.add(mountPath)
    if (names.has(name)) errors.push(invalid(nameField, name, 'must not already exist in volumeDevices'))
    if (paths.has(mountPath)) {
      errors.push(invalid(pathField, mountPath, 'must not already exist as a path in volumeDevices'))
    }
    // A kube-apiserver names no item here.
    errors.push(...relativePath(textAt(mount, 'subPath'), `${list}.subPath`))
    const expression = textAt(mount, 'subPathExpr')
    if (expression !== '' && textAt(mount, 'subPath') !== '') {
      const words = 'subPathExpr and subPath are mutually exclusive'
      errors.push(invalid(`${list}[${index}].subPathExpr`, expression, words))
    }
    errors.push(...relativePath(expression, `${list}.subPathExpr`))
    return [...errors, ...propagationErrors(textAt(mount, 'mountPropagation'), container, `${list}.mountPropagation`)]
  })
}

function propagationErrors(propagation: string, container: JsonObject, field: string): FieldError[] {
  if (propagation === '') return []
  if (!PROPAGATIONS.includes(propagation)) return [notSupported(field, propagation, PROPAGATIONS)]
  if (propagation !== 'Bidirectional' || readPath(container, 'securityContext.privileged') === true) return []
  return [forbidden(field, 'Bidirectional mount propagation is available only to privileged containers')]
}

const BLOCK_SOURCES = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'

function deviceErrors(
  devices: readonly JsonObject[],
  {
    volumes,
    path,
    mounts,
  }: { readonly volumes: Volumes; readonly path: string; readonly mounts: readonly JsonObject[] },
): FieldError[] {
  const [names, paths] = [new Set<string>(), new Set<string>()]
  const [mountNames, mountPaths] = [textsOf(mounts, 'name'), textsOf(mounts, 'mountPath')]
  return devices.flatMap((device, index) => {
    const errors: FieldError[] = []
    const [name, devicePath] = [textAt(device, 'name'), textAt(device, 'devicePath')]
    const [nameField, pathField] = ['name', 'devicePath'].map((field) => `${path}.volumeDevices[${index}].${field}`)
    const volume = volumes.get(name)
    if (name === '') errors.push(required(nameField!))
    if (names.has(name)) errors.push(invalid(nameField!, name, 'must be unique'))
    if (volume && !volume['persistentVolumeClaim'] && !volume['ephemeral']) {
      errors.push(invalid(nameField!, name, BLOCK_SOURCES))
    }
    if (!volume) errors.push(notFound(nameField!, name))
    if (devicePath === '') errors.push(required(pathField!))
    if (paths.has(devicePath)) errors.push(invalid(pathField!, devicePath, 'must be unique'))
    if (devicePath.split('/').includes('..')) {
      errors.push(invalid(pathField!, devicePath, "can not contain backsteps ('..')"))
    }
    if (mountNames.has(name)) errors.push(invalid(nameField!, name, 'must not already exist in volumeMounts'))
    if (mountPaths.has(devicePath)) {
      errors.push(invalid(pathField!, devicePath, 'must not already exist as a path in volumeMounts'))
    }
    names.add(name)
    paths.add(devicePath)
    return errors
  })
}

function textsOf(items: readonly JsonObject[], field: string): ReadonlySet<string> {
  return new Set(items.map((item) => textAt(item, field)))
}
