#include "libhdf5.h"
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <string.h>

// A thread-safe libhdf5 keeps the error stack and the switch for printing it per
// thread, so every entry turns it off, and the text is taken before the next call clears it.
static __thread char failure[1024];

// sf_tame_malloc makes glibc give large buffers back to the system at once and keep
// one arena: libhdf5 frees chunk buffers on whatever thread it runs, and what each thread's
// arena holds on to is memory that no limit knows of.
void sf_tame_malloc(void) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
}

void sf_quiet(void) { H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }

static herr_t append_error(unsigned n, const H5E_error2_t *e, void *data) {
	size_t *used = data;
	if (!e->desc || *used >= sizeof failure) return 0;
	int k = snprintf(failure + *used, sizeof failure - *used, "%s%s", n ? ": " : "", e->desc);
	if (k > 0) *used += (size_t)k;
	return 0;
}

static void keep_error(void) {
	size_t used = 0;
	failure[0] = 0;
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, append_error, &used);
}

// sf_error gives the text of this thread's last failure: of one in here, else of libhdf5's own stack.
void sf_error(char *text, size_t cap) {
	if (!failure[0]) keep_error();
	snprintf(text, cap, "%s", failure);
	failure[0] = 0;
}

#if H5_VERSION_GE(1, 12, 0)
typedef H5L_info1_t link_info;
typedef H5O_info1_t object_info;
#define ITERATE H5Literate1
#else
typedef H5L_info_t link_info;
typedef H5O_info_t object_info;
#define ITERATE H5Literate
#endif

static herr_t add_link(hid_t group, const char *name, const link_info *info, void *data) {
	sf_links *l = data;
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		sf_link *at = realloc(l->at, cap * sizeof *at);
		if (!at) return -1;
		l->at = at;
		l->cap = cap;
	}
	sf_link *k = &l->at[l->n];
	k->link = (int)info->type;
	k->type = -1;
	k->address = 0;
	k->fileno = 0;
	object_info o;
	// An external link is not followed: it would open another file.
	if ((info->type == H5L_TYPE_HARD || info->type == H5L_TYPE_SOFT) &&
	    H5Oget_info_by_name2(group, name, &o, H5O_INFO_BASIC, H5P_DEFAULT) >= 0) {
		k->type = (int)o.type;
		k->address = o.addr;
		k->fileno = o.fileno;
	}
	if (!(k->name = strdup(name))) return -1;
	l->n++;
	return 0;
}

int sf_list(hid_t group, sf_links *out) {
	sf_quiet();
	memset(out, 0, sizeof *out);
	hsize_t i = 0;
	if (ITERATE(group, H5_INDEX_NAME, H5_ITER_INC, &i, add_link, out) >= 0) return 0;
	keep_error();
	return -1;
}

void sf_free_links(sf_links *l) {
	for (size_t i = 0; i < l->n; i++) free(l->at[i].name);
	free(l->at);
}

static int describe_space(hid_t dataset, sf_info *o) {
	hid_t s = H5Dget_space(dataset);
	if (s < 0) return -1;
	hsize_t dims[SF_DIMS];
	o->space = (int)H5Sget_simple_extent_type(s);
	o->rank = H5Sget_simple_extent_ndims(s);
	int ok = o->rank >= 0 && o->rank <= SF_DIMS;
	if (ok && o->rank > 0) ok = H5Sget_simple_extent_dims(s, dims, NULL) == o->rank;
	for (int i = 0; ok && i < o->rank; i++) o->dims[i] = dims[i];
	if (!ok) keep_error();
	H5Sclose(s);
	return ok ? 0 : -1;
}

static int describe_type(hid_t dataset, sf_info *o) {
	hid_t t = H5Dget_type(dataset);
	if (t < 0) return -1;
	o->type = (int)H5Tget_class(t);
	o->size = H5Tget_size(t);
	o->is_variable = H5Tdetect_class(t, H5T_VLEN) > 0 || H5Tis_variable_str(t) > 0;
	if (o->type == H5T_INTEGER || o->type == H5T_FLOAT) {
		o->order = (int)H5Tget_order(t);
		o->precision = H5Tget_precision(t);
		o->bit_offset = (uint64_t)H5Tget_offset(t);
	}
	if (o->type == H5T_INTEGER) o->is_signed = H5Tget_sign(t) == H5T_SGN_2;
	if (o->type == H5T_FLOAT) {
		size_t sp = 0, ep = 0, es = 0, mp = 0, ms = 0;
		H5Tget_fields(t, &sp, &ep, &es, &mp, &ms);
		o->sign_pos = sp, o->exp_pos = ep, o->exp_size = es, o->man_pos = mp, o->man_size = ms;
		o->exp_bias = H5Tget_ebias(t);
		o->implied_one = H5Tget_norm(t) == H5T_NORM_IMPLIED;
	}
	H5Tclose(t);
	return 0;
}

static void describe_filters(hid_t plist, sf_info *o) {
	int n = H5Pget_nfilters(plist);
	o->nfilters = n > SF_FILTERS ? SF_FILTERS : n;
	for (int i = 0; i < o->nfilters; i++) {
		sf_filter *f = &o->filters[i];
		unsigned flags = 0, config = 0;
		size_t values = SF_VALUES;
		f->id = (int)H5Pget_filter2(plist, (unsigned)i, &flags, &values, f->values, SF_NAME, f->name, &config);
		f->name[SF_NAME - 1] = 0;
		f->available = H5Zfilter_avail(f->id) > 0;
	}
}

static int describe_layout(hid_t dataset, sf_info *o) {
	hid_t p = H5Dget_create_plist(dataset);
	if (p < 0) return -1;
	hsize_t chunk[SF_DIMS];
	o->layout = (int)H5Pget_layout(p);
	o->external = H5Pget_external_count(p);
	if (o->layout == H5D_CHUNKED) {
		int n = H5Pget_chunk(p, SF_DIMS, chunk);
		for (int i = 0; i < n && i < SF_DIMS; i++) o->chunk[i] = chunk[i];
		H5Pget_chunk_opts(p, &o->chunk_opts);
		describe_filters(p, o);
	}
	H5Pclose(p);
	return 0;
}

int sf_describe(hid_t dataset, sf_info *o) {
	sf_quiet();
	memset(o, 0, sizeof *o);
	object_info i;
	if (describe_space(dataset, o) < 0 || describe_type(dataset, o) < 0 || describe_layout(dataset, o) < 0 ||
	    H5Oget_info2(dataset, &i, H5O_INFO_BASIC) < 0) {
		if (!failure[0]) keep_error();
		return -1;
	}
	o->header = i.addr;
	o->fileno = i.fileno;
	o->offset = H5Dget_offset(dataset);
	o->storage = H5Dget_storage_size(dataset);
	return 0;
}

int sf_file(hid_t file, sf_file_info *out) {
	sf_quiet();
	hid_t p = H5Fget_create_plist(file);
	hsize_t user_block = 0;
	size_t addr = 0, length = 0;
	object_info root;
	int ok = p >= 0 && H5Pget_userblock(p, &user_block) >= 0 && H5Pget_sizes(p, &addr, &length) >= 0 &&
	         H5Oget_info2(file, &root, H5O_INFO_BASIC) >= 0;
	if (!ok) keep_error();
	if (p >= 0) H5Pclose(p);
	if (ok) out->root = root.addr, out->fileno = root.fileno;
	out->user_block = user_block, out->addr_bytes = (int)addr, out->length_bytes = (int)length;
	return ok ? 0 : -1;
}

// sf_read_rows reads rows [row, row+rows) of axis 0 in this machine's byte order.
int sf_read_rows(hid_t dataset, uint64_t row, uint64_t rows, void *dst) {
	sf_quiet();
	hsize_t start[SF_DIMS] = {0}, count[SF_DIMS];
	hid_t file = H5Dget_space(dataset), type = H5Dget_type(dataset), memory = -1, native = H5Tcopy(type);
	int rank = H5Sget_simple_extent_ndims(file);
	int ok = rank > 0 && rank <= SF_DIMS && native >= 0 && H5Sget_simple_extent_dims(file, count, NULL) == rank;
	if (ok) {
		start[0] = row, count[0] = rows;
		memory = H5Screate_simple(rank, count, NULL);
		ok = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
		     H5Tset_order(native, H5Tget_order(H5T_NATIVE_INT)) >= 0 &&
		     H5Dread(dataset, native, memory, file, H5P_DEFAULT, dst) >= 0;
	}
	if (!ok) keep_error();
	if (memory >= 0) H5Sclose(memory);
	if (native >= 0) H5Tclose(native);
	if (type >= 0) H5Tclose(type);
	if (file >= 0) H5Sclose(file);
	return ok ? 0 : -1;
}

int sf_chunk_size(hid_t dataset, const hsize_t *at, uint64_t *size) {
	sf_quiet();
	hsize_t n = 0;
	int ok = H5Dget_chunk_storage_size(dataset, at, &n) >= 0;
	if (!ok) keep_error();
	*size = n;
	return ok ? 0 : -1;
}

int sf_read_chunk(hid_t dataset, const hsize_t *at, uint32_t *mask, void *dst) {
	sf_quiet();
#if H5_VERSION_GE(2, 0, 0)
	int ok = H5Dread_chunk1(dataset, H5P_DEFAULT, at, mask, dst) >= 0;
#else
	int ok = H5Dread_chunk(dataset, H5P_DEFAULT, at, mask, dst) >= 0;
#endif
	if (!ok) keep_error();
	return ok ? 0 : -1;
}
