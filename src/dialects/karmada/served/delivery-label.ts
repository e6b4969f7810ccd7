/** Label of a Delivery that a binding made. */
export const DELIVERY_LABEL = 'work.karmada.io/binding'
/** The namespace of Deliveries of objects without a namespace. */
export const CLUSTER_NAMESPACE = 'karmada-system'
