#!/usr/bin/env bash
# storage.sh: four ReadWriteMany volumes of the storage class `shared` on the node's disk, in node/shared/0 to 3.
# They are `local`, not `hostPath`: only on `local` is fsGroup honoured.
. "$(dirname "$0")/common.sh"
[ ! -f "$node/kind" ] || name=$(cat "$node/kind")

kubectl apply -f - >/dev/null <<E
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: shared}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: Immediate
E
for i in 0 1 2 3; do
	volume=shared-$i
	mkdir -p "$node/shared/$i"
	kubectl get pv "$volume" >/dev/null 2>&1 || kubectl create -f - >/dev/null <<-E
		apiVersion: v1
		kind: PersistentVolume
		metadata: {name: $volume}
		spec:
		  capacity: {storage: 10Gi}
		  accessModes: [ReadWriteMany, ReadWriteOnce]
		  storageClassName: shared
		  persistentVolumeReclaimPolicy: Retain
		  local: {path: "$node/shared/$i"}
		  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$name]}]}]}}
	E
	# A volume whose claim was deleted is used again; its files stay. Its phase may be one from before the last stop of the node.
	read -r namespace claim uid <<<"$(kubectl get pv "$volume" -o jsonpath='{.spec.claimRef.namespace} {.spec.claimRef.name} {.spec.claimRef.uid}')"
	[ -z "$uid" ] || [ "$(kubectl get pvc -n "$namespace" "$claim" -o jsonpath='{.metadata.uid}' 2>/dev/null)" = "$uid" ] ||
		kubectl patch pv "$volume" --type=json -p '[{"op": "remove", "path": "/spec/claimRef"}]' >/dev/null
done
